import { describe, expect, test } from "vitest";
import { type Actor, SYSTEM } from "../../core/people/actor.ts";
import { ADA } from "../../../test/builders.ts";
import { Scene } from "../../../test/scene.ts";

describe("signing in", () => {
  test("a code is for oneself or for somebody on the list", async () => {
    const scene = new Scene();
    const cho: Actor = { ...ADA, scope: "admin", id: "cho" };
    const code = (subject: string) => scene.engine.issueToken({ scope: "login", subject }, cho);
    await code("cho");
    await expect(code("root")).rejects.toMatchObject({ code: "not_permitted" });
    await scene.know("root");
    await code("root");
  });

  test("a name that is on no list has the strength of a bearer", async () => {
    const scene = new Scene();
    const strengthOf = async (text: string) => (await scene.engine.authenticate(text, "api"))?.actor.strength;
    const human = await scene.engine.issueToken({ scope: "human", subject: "ada" }, SYSTEM);
    expect(await strengthOf(human.text)).toBe("bearer");
    await scene.know("ada");
    expect(await strengthOf(human.text)).toBe("local");
  });
});
