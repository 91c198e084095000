/**
 * Removes NODE_EXTRA_CA_CERTS from what the tests and their programs inherit. Node parses that file at every start,
 * which can take three times as long as the start itself, and no test leaves this machine.
 */
export default function setup(): void {
  delete process.env["NODE_EXTRA_CA_CERTS"];
}
