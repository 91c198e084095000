declare const ASKD_VERSION: string | undefined; // set when the program is built

/** The version of this program; 0.0.0 if it was not built. */
export const VERSION: string = typeof ASKD_VERSION === "string" ? ASKD_VERSION : "0.0.0";
