import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { isUuid } from '../../kernel/schema.ts'
import { DAY_MS } from '../../kernel/time.ts'
import * as tokens from '../../kernel/tokens.ts'
import * as mail from '../../platform/mail.ts'
import { type LookDeps, loadStoreLook, writeBranded } from '../sites/mail-look.ts'
import { isKeptFromMail } from '../stores/sandbox-mail.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import { listBalances, listCommissions } from './commission-queries.ts'
import type { AffiliatePage, Payout } from './commission-schema.ts'
import { refuse } from './errors.ts'
import { type AffiliateMail, approvedMail, paidMail } from './mails.ts'
import { listPayouts } from './payout-queries.ts'
import * as queries from './queries.ts'
import type { Affiliate } from './schema.ts'
import { find, hashDevice } from './service.ts'

/** The page of an affiliate on the storefront, which a signed link opens, and the mails that lead to it. */

export interface PageDeps extends LookDeps {
  linkKey: Buffer
}

/** Days that a link is valid: a quarter, since most programs pay by the quarter. The next mail has a new link. */
const LINK_DAYS = 90

type Payload = [tenant: string, affiliateId: string, expires: number]

/** Makes a link to the page of an affiliate. */
export async function makeLink({ linkKey, storefrontUrl }: PageDeps, db: Db, id: string) {
  const affiliate = await find(db, id)
  requirePage(affiliate)
  const expires = db.clock.now() + LINK_DAYS * DAY_MS
  const payload: Payload = [db.tenant, affiliate.id, expires]
  const token = tokens.sign(linkKey, Buffer.from(JSON.stringify(payload)))
  const base = storefrontUrl(await stores.get(db))
  const url = base === null ? null : `${base}/affiliates/link/${token}`
  return { url, token, expires_at: new Date(expires).toISOString() }
}

/** Refuses an affiliate who was never approved or whose person was erased: they have no page. */
function requirePage({ status, email }: Affiliate): void {
  const isKnown = email !== null && (status === 'active' || status === 'suspended')
  if (!isKnown) throw refuse('affiliate_not_found')
}

const NEWEST = { limit: 50, offset: 0 }

/** Opens the page of an affiliate: codes, balances, commissions and payouts, and nothing of an order's shopper. */
export async function openPage(
  { linkKey }: PageDeps,
  db: TenantDb,
  { token, device_ref }: { token: string; device_ref?: string | null | undefined },
): Promise<AffiliatePage> {
  const affiliate = await find(db, readLink(linkKey, db, token))
  requirePage(affiliate)
  const { id } = affiliate
  const device = hashDevice(device_ref)
  if (device !== null)
    await db.transaction('affiliates: see a device', (tx) => queries.seeDevice(tx, id, device))
  const ofAffiliate = { affiliate_id: id, status: undefined }
  const [balances, commissions, payouts, { currency }] = await Promise.all([
    listBalances(db, id),
    listCommissions(db, { ...ofAffiliate, order_id: undefined }, NEWEST),
    listPayouts(db, ofAffiliate, NEWEST),
    stores.get(db),
  ])
  const { name, status, referral_codes, commission_type, rate_bps, amount_cents } = affiliate
  return {
    name,
    status,
    commission_type,
    rate_bps,
    amount_cents,
    currency,
    balances,
    codes: referral_codes.map(({ code, active, clicks }) => ({ code, active, clicks })),
    commissions: commissions.rows.map((row) => ({
      type: row.type,
      status: row.status,
      currency: row.currency,
      amount_cents: row.amount_cents,
      approves_at: row.approves_at,
      created_at: row.created_at,
    })),
    payouts: payouts.rows.map((row) => ({
      currency: row.currency,
      amount_cents: row.amount_cents,
      status: row.status,
      reference: row.reference,
      created_at: row.created_at,
      paid_at: row.paid_at,
    })),
  }
}

/** Reads the affiliate of a link that we signed for this store and that has not expired. */
function readLink(key: Buffer, { tenant, clock }: Db, token: string): string {
  const payload = tokens.verify(key, token)
  if (payload === null) throw refuse('affiliate_not_found')
  const [of, id, expires] = JSON.parse(payload.toString()) as Payload
  if (of !== tenant || expires < clock.now() || !isUuid(id)) throw refuse('affiliate_not_found')
  return id
}

/** Mails an affiliate that they are approved, with the link to their page. */
export async function mailApproved(deps: PageDeps, tx: Tx, affiliate: Affiliate): Promise<void> {
  const store = await stores.get(tx)
  const { url } = await makeLink(deps, tx, affiliate.id)
  const [first] = affiliate.referral_codes
  const code = first?.code ?? null
  const content = approvedMail(store.language, { store: store.display_name, url, code })
  await send(deps, tx, { store, affiliate }, content)
}

/** Mails an affiliate that they were paid. */
export async function mailPaid(deps: PageDeps, tx: Tx, payout: Payout): Promise<void> {
  const affiliate = await find(tx, payout.affiliate_id)
  if (affiliate.email === null) return
  const store = await stores.get(tx)
  const { url } = await makeLink(deps, tx, affiliate.id)
  const { amount_cents, currency, reference } = payout
  const about = { store: store.display_name, url, amount_cents, currency, reference }
  await send(deps, tx, { store, affiliate }, paidMail(store.language, about))
}

async function send(
  deps: PageDeps,
  tx: Tx,
  { store, affiliate: { email } }: { store: Store; affiliate: Affiliate },
  { language, subject, blocks }: AffiliateMail,
): Promise<void> {
  if (email === null) return
  const isKept = isKeptFromMail(store, email)
  const written = writeBranded(
    { language, store: await loadStoreLook(deps, tx, store) },
    { subject, reference: null, heading: subject, blocks, footer: [] },
  )
  await mail.send(tx, { to: email, tenant_ref: tx.tenant, isKept, ...written })
}
