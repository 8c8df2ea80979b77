import type { GatewayAdapter } from '../adapter.ts'
import { SIMULATED_MEANINGS } from './meanings.ts'

/** A gateway of our own, for tests and demos: it behaves like a real one, and moves no money. */
export const simulated = {
  name: 'simulated',
  title: 'Simulated gateway',
  movesMoney: false,
  settings: {},
  settingFaults: () => [],
  ownAccount: () => ({ credentials: null, public_key: null }),
  credentials: null,
  meanings: SIMULATED_MEANINGS,
  async open({ database, key, ...deps }) {
    const { openSimulated } = await import('./gateway.ts')
    const options = { ...deps, key: key('simulated gateway') }
    return {
      forAccount: ({ tenant }) =>
        openSimulated({ ...options, db: database.tenantForMoney(tenant) }),
      check: async () => 'valid',
      close: async () => {},
    }
  },
  cardScript: () => null,
  events: null,
} as const satisfies GatewayAdapter
