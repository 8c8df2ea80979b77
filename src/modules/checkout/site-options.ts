import { NO_SALE_TERMS, readSaleTerms, type SaleTerms } from '../sites/sale-terms.ts'
import { member, switchesReader } from '../sites/switches.ts'

/** What a store's site offers at its checkout. */
export interface SiteOptions extends SaleTerms {
  storeCredit: boolean
  giftCards: boolean
  /** The version of the statement that shoppers must accept; null without a statement. */
  statementVersion: string | null
}

const NOTHING: SiteOptions = {
  storeCredit: false,
  giftCards: false,
  statementVersion: null,
  ...NO_SALE_TERMS,
}

/** Manifests may hold anything: an option that is missing or malformed is switched off. */
function readOptions(manifest: unknown): SiteOptions {
  const behavior = member(manifest, 'behavior')
  const funnel = member(behavior, 'funnelGate')
  const version = member(funnel, 'statementVersion')
  const isEnabled = member(funnel, 'enabled') === true
  return {
    storeCredit: member(member(behavior, 'storeCredit'), 'enabled') === true,
    giftCards: member(member(behavior, 'giftCards'), 'enabled') === true,
    statementVersion: isEnabled ? toVersion(version) : null,
    ...readSaleTerms(manifest),
  }
}

/** A text or a number. Any other value is no version, and `String` would throw for some values. */
const toVersion = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? `${value}` : ''

export const optionsOf = switchesReader(NOTHING, readOptions)
