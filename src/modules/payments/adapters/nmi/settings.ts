import { optional, url, type Values } from '../../../../kernel/setting.ts'
import type { SettingContext } from '../adapter.ts'

export const NMI_SETTINGS = {
  NMI_URL: url(['http', 'https'], "NMI's address; default `https://secure.networkmerchants.com`"),
  NMI_SECURITY_KEY: { ...optional("NMI's `security_key`"), secret: true as const },
  NMI_TOKENIZATION_KEY: optional(
    "NMI's public key for Collect.js, of the same account: checkouts then have NMI's card fields",
  ),
  NMI_COLLECT_URL: url(
    ['http', 'https'],
    'the address of Collect.js; default `https://secure.nmi.com/token/Collect.js`; refused in production',
  ),
}

export type NmiSettings = typeof NMI_SETTINGS

export const NMI_URL = 'https://secure.networkmerchants.com'

/** NMI's script with its own card fields. */
export const COLLECT_URL = 'https://secure.nmi.com/token/Collect.js'

/** Production sends cards by https alone, and loads the script that sees card numbers only from NMI. */
export function settingFaults(
  read: Values<NmiSettings>,
  { production, isDefault }: SettingContext,
): string[] {
  const faults: string[] = []
  if (production && read.NMI_URL !== undefined && new URL(read.NMI_URL).protocol === 'http:') {
    faults.push('NMI_URL must be https in production: it receives card numbers')
  }
  if (production && read.NMI_COLLECT_URL !== undefined) {
    faults.push('NMI_COLLECT_URL must not be set in production: it is for tests')
  }
  if (isDefault && read.NMI_SECURITY_KEY === undefined) {
    faults.push('NMI_SECURITY_KEY must be set when PAYMENT_GATEWAY is nmi')
  }
  return faults
}
