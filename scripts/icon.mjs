// Draws plugin/icon.png: a question in a speech bubble. Pixels are computed from shapes, four by four samples each.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32, deflateSync } from "node:zlib";

const SIZE = 512;
const SAMPLES = 4;
const BLUE = [0x2f, 0x5b, 0xd7];
const WHITE = [0xff, 0xff, 0xff];
const FILE = join(dirname(dirname(fileURLToPath(import.meta.url))), "plugin", "icon.png");

/** An arc from the left over the top to the lower right, and from there to the stem. */
const STROKE = [
  ...Array.from({ length: 30 }, (_, step) => {
    const angle = Math.PI + (step / 29) * 1.28 * Math.PI;
    return [256 + 64 * Math.cos(angle), 190 + 64 * Math.sin(angle)];
  }),
  [270, 262],
  [258, 274],
  [256, 288],
];

writeFileSync(FILE, encode(SIZE, draw()));

/** Which colour a point has, and whether it is there at all. */
function colourAt(x, y) {
  if (!isInRoundedSquare(x, y, { left: 0, top: 0, side: SIZE, radius: 112 })) return undefined;
  const isBubble = isInRoundedSquare(x, y, { left: 96, top: 80, side: 320, radius: 96 }) || isInTail(x, y);
  return isBubble && !isInMark(x, y) ? WHITE : BLUE;
}

function isInRoundedSquare(x, y, { left, top, side, radius }) {
  const dx = Math.max(left + radius - x, x - (left + side - radius), 0);
  const dy = Math.max(top + radius - y, y - (top + side - radius), 0);
  const isInside = x >= left && y >= top && x <= left + side && y <= top + side;
  return isInside && dx * dx + dy * dy <= radius * radius;
}

/** The corner of the bubble that points to who speaks. */
function isInTail(x, y) {
  return y >= 340 && y <= 456 && x >= 168 && x <= 168 + (456 - y) * 0.9;
}

/** The question mark: a stroke with round ends, and a dot. */
function isInMark(x, y) {
  if (Math.hypot(x - 256, y - 347) <= 24) return true;
  return STROKE.slice(1).some((end, index) => distanceTo(x, y, STROKE[index], end) <= 20);
}

function distanceTo(x, y, [fromX, fromY], [toX, toY]) {
  const [dx, dy] = [toX - fromX, toY - fromY];
  const along = ((x - fromX) * dx + (y - fromY) * dy) / (dx * dx + dy * dy);
  const at = Math.min(1, Math.max(0, along));
  return Math.hypot(x - fromX - at * dx, y - fromY - at * dy);
}

function draw() {
  const pixels = Buffer.alloc(SIZE * SIZE * 4);
  for (let y = 0; y < SIZE; y += 1) {
    for (let x = 0; x < SIZE; x += 1) pixels.set(pixelAt(x, y), (y * SIZE + x) * 4);
  }
  return pixels;
}

function pixelAt(x, y) {
  const seen = [];
  for (let sample = 0; sample < SAMPLES * SAMPLES; sample += 1) {
    const colour = colourAt(
      x + ((sample % SAMPLES) + 0.5) / SAMPLES,
      y + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES,
    );
    if (colour) seen.push(colour);
  }
  const mean = (channel) =>
    Math.round(seen.reduce((sum, colour) => sum + colour[channel], 0) / Math.max(1, seen.length));
  return [mean(0), mean(1), mean(2), Math.round((255 * seen.length) / (SAMPLES * SAMPLES))];
}

/** A PNG with one byte for each of red, green, blue and opacity. */
function encode(size, pixels) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const rows = Array.from({ length: size }, (_, row) =>
    Buffer.concat([Buffer.of(0), pixels.subarray(row * size * 4, (row + 1) * size * 4)]),
  );
  const body = deflateSync(Buffer.concat(rows), { level: 9 });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", body), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), framed.length - 4);
  return framed;
}
