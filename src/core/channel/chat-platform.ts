/** The chat services that are reached by an adapter of the Chat SDK. */
export const CHAT_PLATFORMS = ["discord", "teams", "gchat", "whatsapp", "linear"] as const;
export type ChatPlatform = (typeof CHAT_PLATFORMS)[number];

/** The versions that this bridge was tried with: the libraries change much within a major version. */
export const ADAPTER_VERSION = { major: 4, leastMinor: 41 };

/** The package of a service's adapter, which the user installs beside askd. */
export function adapterPackage(platform: ChatPlatform): string {
  return `@chat-adapter/${platform}`;
}

/** The command that installs an adapter. */
export function installCommand(platform: ChatPlatform): string {
  const { major, leastMinor } = ADAPTER_VERSION;
  return `npm install -g ${adapterPackage(platform)}@${major}.${leastMinor}`;
}
