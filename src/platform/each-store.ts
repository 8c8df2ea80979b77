/**
 * Works for one store after the other, and answers how much was done for all of them. A fault of one
 * is thrown once the others had their turn: no store waits until another's is mended.
 */
export async function eachStore(
  stores: readonly { tenant_ref: string }[],
  work: (tenant: string) => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  const faults: unknown[] = []
  let did = 0
  for (const { tenant_ref } of stores) {
    if (signal?.aborted) break
    try {
      did += await work(tenant_ref)
    } catch (fault) {
      faults.push(fault)
    }
  }
  if (faults.length > 0) throw faults[0]
  return did
}
