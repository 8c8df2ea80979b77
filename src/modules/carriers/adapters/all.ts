import type { CarrierAdapter } from './adapter.ts'
import { simulated } from './simulated/adapter.ts'

/** The only list of carriers, as that of gateways: everything that depends on which there are is made from it. */
export const ADAPTERS: readonly CarrierAdapter[] = [simulated]

export const CARRIER_NAMES = ADAPTERS.map(({ name }) => name)

/** The adapter of a name that may come from a row. */
export function adapterOf(name: string): CarrierAdapter {
  const adapter = ADAPTERS.find((each) => each.name === name)
  if (adapter === undefined) throw new Error(`this process has no carrier ${name}`)
  return adapter
}
