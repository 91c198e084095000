import { type KeyObject, generateKeyPairSync, sign } from "node:crypto";

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const IP_ADDRESS = 0x87;
const EXPLICIT_0 = 0xa0;
const EXPLICIT_3 = 0xa3;
/** Object identifiers as they are encoded. */
const ECDSA_SHA256 = tagged(0x06, Buffer.from("2a8648ce3d040302", "hex"));
const COMMON_NAME = tagged(0x06, Buffer.from("550403", "hex"));
const ALTERNATIVE_NAME = tagged(0x06, Buffer.from("551d11", "hex"));

/** A key, and a certificate that it signed itself, for `127.0.0.1` as PEM. */
export function ownCertificate(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const body = certificateBody(publicKey);
  const algorithm = tagged(SEQUENCE, ECDSA_SHA256);
  const signature = bits(sign("sha256", body, privateKey));
  const certificate = tagged(SEQUENCE, body, algorithm, signature);
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function certificateBody(publicKey: KeyObject): Buffer {
  const version = tagged(EXPLICIT_0, tagged(INTEGER, Buffer.from([2])));
  const serial = tagged(INTEGER, Buffer.from([1]));
  const algorithm = tagged(SEQUENCE, ECDSA_SHA256);
  const name = tagged(
    SEQUENCE,
    tagged(SET, tagged(SEQUENCE, COMMON_NAME, tagged(UTF8_STRING, Buffer.from("askd test")))),
  );
  const validity = tagged(SEQUENCE, utcTime("200101000000Z"), utcTime("491231235959Z"));
  const address = tagged(SEQUENCE, tagged(IP_ADDRESS, Buffer.from([127, 0, 0, 1])));
  const extension = tagged(SEQUENCE, ALTERNATIVE_NAME, tagged(OCTET_STRING, address));
  const extensions = tagged(EXPLICIT_3, tagged(SEQUENCE, extension));
  const key = publicKey.export({ type: "spki", format: "der" });
  return tagged(SEQUENCE, version, serial, algorithm, name, validity, name, key, extensions);
}

function utcTime(text: string): Buffer {
  return tagged(UTC_TIME, Buffer.from(text));
}

function bits(bytes: Buffer): Buffer {
  return tagged(BIT_STRING, Buffer.from([0]), bytes);
}

/** One value of DER: its tag, its length, its content. */
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
