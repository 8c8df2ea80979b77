import { type GatewayAdapter, oneSecret } from '../adapter.ts'
import { nmiEvents } from './events.ts'
import { NMI_MEANINGS } from './meanings.ts'
import { COLLECT_URL, NMI_SETTINGS, NMI_URL, type NmiSettings, settingFaults } from './settings.ts'

export const nmi = {
  name: 'nmi',
  title: 'NMI',
  movesMoney: true,
  settings: NMI_SETTINGS,
  settingFaults,
  ownAccount: ({ NMI_SECURITY_KEY: security_key, NMI_TOKENIZATION_KEY }) => ({
    credentials: security_key === undefined ? null : { security_key },
    public_key: NMI_TOKENIZATION_KEY ?? null,
  }),
  credentials: oneSecret('security_key', {
    pattern: '^[\\x21-\\x7e]+$',
    expected: 'must be visible ASCII characters without spaces',
    minLength: 8,
    maxLength: 200,
    description: "NMI's `security_key`. Stored encrypted and never shown again.",
  }),
  meanings: NMI_MEANINGS,
  async open({ settings, onNoAnswer, onAccountProblem }) {
    const { openNmiGateways } = await import('./gateway.ts')
    const reports = { onNoAnswer, onAccountProblem }
    const { open, check, close } = openNmiGateways(settings.NMI_URL ?? NMI_URL, reports)
    const keyOf = (credentials: { security_key?: string } | null) => credentials?.security_key
    return {
      forAccount: ({ tenant, credentials }) =>
        open({ securityKey: keyOf(credentials) ?? null, tenant }),
      check: (credentials) => check(keyOf(credentials) ?? ''),
      close,
    }
  },
  cardScript: ({ public_key: key }, { NMI_COLLECT_URL: url = COLLECT_URL }) =>
    key === null ? null : { driver: 'collect', url, key },
  events: nmiEvents,
} as const satisfies GatewayAdapter<NmiSettings>
