import type { Site } from '../site/site.ts'
import { orNullIn } from './or-null.ts'
import type { PlatformClient } from './platform-client.ts'

/** Reads the affiliate program of a store, sends applications, and shows affiliates their sales. */
export interface AffiliateApi {
  readProgram(site: Site): Promise<AffiliateProgram>
  /** Sends an application. Returns the same for an address that the store knows already. */
  applyAsAffiliate(site: Site, request: AffiliateApplication): Promise<unknown>
  /** Records that a shopper followed a link. Returns null for a code that does not count. */
  touchReferral(site: Site, code: string): Promise<ReferralTouch | null>
  /** Opens an affiliate's page by its link. Returns null for a link that expired or was never made. */
  openAffiliatePage(site: Site, opened: OpenedPage): Promise<AffiliatePage | null>
}

export interface AffiliateProgram extends AffiliateTerms {
  applications_open: boolean
  cookie_days: number
}

interface AffiliateTerms {
  commission_type: 'percent' | 'fixed'
  rate_bps: number | null
  amount_cents: number | null
  currency: string
}

export interface AffiliateApplication {
  name: string
  email: string
  website?: string
  message?: string
  ip: string | null
  device_ref: string
}

export interface ReferralTouch {
  referral_code: string
  referral_touch: string
  window_days: number
}

interface OpenedPage {
  token: string
  device_ref: string
}

export interface AffiliatePage extends AffiliateTerms {
  name: string
  status: string
  codes: readonly { code: string; active: boolean; clicks: number }[]
  balances: readonly {
    currency: string
    pending_cents: number
    approved_cents: number
    in_payout_cents: number
    paid_cents: number
  }[]
  commissions: readonly {
    type: string
    status: string
    currency: string
    amount_cents: number
    created_at: string
  }[]
  payouts: readonly {
    currency: string
    amount_cents: number
    status: string
    reference: string
    created_at: string
    paid_at: string | null
  }[]
}

export function openAffiliateApi(client: PlatformClient): AffiliateApi {
  const base = ({ tenant }: Site) => `/v1/tenants/${tenant}/affiliates`
  return {
    readProgram: (site) => client.call('GET', `${base(site)}/program`),
    applyAsAffiliate: (site, body) => client.call('POST', `${base(site)}/applications`, { body }),
    touchReferral: (site, code) =>
      orNullIn(site, client.call('POST', `${base(site)}/touches`, { body: { code } })),
    openAffiliatePage: (site, body) =>
      orNullIn(site, client.call('POST', `${base(site)}/page`, { body })),
  }
}
