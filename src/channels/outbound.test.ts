import { expect, test } from "vitest";
import { LoopbackServer, OUTBOUND } from "../../test/channels/loopback-server.ts";
import { callService, networkFailure } from "./outbound.ts";

async function failureOf(url: string, timeoutMs: number) {
  return callService(OUTBOUND, url, { json: {}, timeoutMs }).then(() => undefined, networkFailure);
}

test("a request that got no reply may have been taken; one that found nobody was not", async () => {
  const server = new LoopbackServer();
  const url = await server.listen();
  server.handle = (_request, response) => void response.destroy();
  expect(await failureOf(url, 5_000)).toMatchObject({ mayBeThere: true });
  server.handle = () => undefined;
  expect(await failureOf(url, 50)).toMatchObject({ why: "no reply in time", mayBeThere: true });
  await server.close();
  expect(await failureOf(url, 5_000)).toMatchObject({ mayBeThere: false });
});
