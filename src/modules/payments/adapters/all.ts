import type { SettingTable } from '../../../kernel/setting.ts'
import type { GatewayAdapter } from './adapter.ts'
import { nmi } from './nmi/adapter.ts'
import { simulated } from './simulated/adapter.ts'

/** The only list of gateways. Everything that depends on which there are is made from it (decision 0076). */
const LIST = [simulated, nmi] as const satisfies readonly GatewayAdapter[]

export const ADAPTERS: readonly GatewayAdapter[] = LIST

export const GATEWAY_NAMES = LIST.map(({ name }) => name)

type All<Each> = (Each extends unknown ? (each: Each) => void : never) extends (
  all: infer T,
) => void
  ? T
  : never

/** The settings of all gateways. */
export const GATEWAY_SETTINGS = Object.assign({}, ...LIST.map(({ settings }) => settings)) as All<
  (typeof LIST)[number]['settings']
> satisfies SettingTable

/** The adapter of a name that may come from a row. */
export function adapterOf(name: string): GatewayAdapter {
  const adapter = ADAPTERS.find((each) => each.name === name)
  if (adapter === undefined) throw new Error(`this process has no gateway ${name}`)
  return adapter
}
