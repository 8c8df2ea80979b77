import { randomInt } from 'node:crypto'
import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody, invalidBodyOf } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { toUtc } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import * as campaigns from '../campaigns/budget.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type {
  CheckoutCoupon,
  Coupon,
  CouponPatch,
  CouponStatus,
  CouponTerms,
  FoundCoupon,
  NewCodes,
  NewCoupon,
} from './schema.ts'

/** Creates a coupon. It is active at once, unless its status is draft. */
export function create(db: TenantDb, actor: audit.Actor, request: NewCoupon): Promise<Coupon> {
  const { code, status = 'active' } = request
  const folded = requireShort(foldCode(code), 'code')
  const terms = checkTerms({ ...NO_TERMS, type: request.type }, request)
  const { campaign_id = null } = request
  return db.transaction('marketing: create coupon', async (tx) => {
    if (campaign_id !== null) await campaigns.attachCoupon(tx, campaign_id)
    const coupon = await queries.insertCoupon(tx, { code, status, campaign_id, ...terms })
    await mapViolations(
      queries.insertMainCode(tx, coupon.id, { code, folded }),
      {
        coupon_codes_folded: 'code_exists',
      },
      refuse,
    )
    await auditCoupon(tx, actor, 'created', { after: coupon })
    return coupon
  })
}

export function change(db: TenantDb, actor: audit.Actor, id: string, patch: CouponPatch) {
  return withCoupon(db, 'marketing: change coupon', id, async (tx, before) => {
    const terms = checkTerms(before, patch)
    const campaign_id = patch.campaign_id === undefined ? before.campaign_id : patch.campaign_id
    await moveToCampaign(tx, before, campaign_id)
    const after = await queries.updateTerms(tx, id, { ...terms, campaign_id })
    await auditCoupon(tx, actor, 'changed', { before, after })
    return after
  })
}

/**
 * Moves a coupon to another campaign, or to none. A used coupon cannot move: its figures and its share of a
 * budget belong to its campaign.
 */
async function moveToCampaign(tx: Tx, before: Coupon, to: string | null): Promise<void> {
  const { id, campaign_id: from } = before
  if (from === to || from?.toLowerCase() === to?.toLowerCase()) return
  if ((await queries.hasRedemptions(tx, id)).found) throw refuse('coupon_used')
  // In the order of the campaigns' ids, so that two coupons that change places do not wait for each other.
  const moves = [
    ...(from === null ? [] : [{ campaign_id: from, run: campaigns.detachCoupon }]),
    ...(to === null ? [] : [{ campaign_id: to.toLowerCase(), run: campaigns.attachCoupon }]),
  ].sort((a, b) => (a.campaign_id < b.campaign_id ? -1 : 1))
  for (const { campaign_id, run } of moves) await run(tx, campaign_id)
}

/**
 * Pauses a coupon, and `activate` activates it. A repeated call is harmless. Activating an expired or
 * exhausted coupon leaves it so.
 */
export const pause = (db: TenantDb, actor: audit.Actor, id: string) =>
  setStatus(db, actor, id, 'paused')
export const activate = (db: TenantDb, actor: audit.Actor, id: string) =>
  setStatus(db, actor, id, 'active')

function setStatus(db: TenantDb, actor: audit.Actor, id: string, to: 'active' | 'paused') {
  return withCoupon(db, `marketing: coupon ${to}`, id, async (tx, before) => {
    const isUnchanged = to === 'paused' ? before.status === 'paused' : isActivated(before)
    if (isUnchanged) return before
    const after = await queries.updateStatus(tx, id, to)
    await auditCoupon(tx, actor, to === 'active' ? 'activated' : 'paused', { before, after })
    return after
  })
}

const isActivated = ({ status }: Coupon): boolean => status !== 'draft' && status !== 'paused'

function withCoupon(
  db: TenantDb,
  name: string,
  id: string,
  work: (tx: Tx, before: Coupon) => Promise<Coupon>,
): Promise<Coupon> {
  return db.transaction(name, async (tx) => {
    const before = isUuid(id) ? await queries.lockCoupon(tx, id) : null
    if (before === null) throw new ApiError('coupon_not_found')
    return work(tx, before)
  })
}

export async function get(db: Db, id: string): Promise<Coupon> {
  const coupon = isUuid(id) ? await queries.findCoupon(db, id) : null
  if (coupon === null) throw new ApiError('coupon_not_found')
  return coupon
}

export async function list(
  db: Db,
  { status, campaign_id }: { status: CouponStatus | undefined; campaign_id: string | undefined },
  page: Page,
) {
  // A text that is not an id belongs to no campaign.
  const of = campaign_id === undefined || isUuid(campaign_id) ? campaign_id : NO_CAMPAIGN
  const { rows, shown } = await queries.listCoupons(db, { status, campaign_id: of }, page)
  return { coupons: rows, ...shown }
}

export const listOfCampaign = queries.listOfCampaign

export async function listRedemptions(db: Db, id: string, page: Page) {
  await get(db, id)
  const { rows, shown } = await queries.listRedemptions(db, id, page)
  return { redemptions: rows, ...shown }
}

export async function listCodes(db: Db, id: string, page: Page) {
  await get(db, id)
  const { rows, shown } = await queries.listCodes(db, id, page)
  return { codes: rows, ...shown }
}

/** Creates single-use codes. */
export function createCodes(db: TenantDb, actor: audit.Actor, id: string, request: NewCodes) {
  const { count, prefix = '' } = request
  requireShort(randomCode(prefix).folded, 'prefix')
  return db.transaction('marketing: make codes', async (tx) => {
    await get(tx, id)
    const codes: string[] = []
    // A random code that exists already is not inserted, so a few may be missing after one round.
    while (codes.length < count) {
      const fresh = Array.from({ length: count - codes.length }, () => randomCode(prefix))
      const inserted = await queries.insertSingleCodes(tx, id, fresh)
      codes.push(...inserted.map(({ code }) => code))
    }
    await audit.record(tx, actor, {
      action: 'coupon.codes_made',
      entity: `coupon:${id}`,
      after: { count, prefix },
    })
    return { codes }
  })
}

/** Crockford's alphabet: letters and digits that are not mistaken for one another. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The length of a random code. It has 60 bits: guessing finds one of a thousand codes after some 10^15 attempts. */
const RANDOM_LENGTH = 12

function randomCode(prefix: string): queries.NewCode {
  const letters = Array.from({ length: RANDOM_LENGTH }, () => LETTERS.charAt(randomInt(32)))
  const code = prefix + letters.join('')
  return { code, folded: foldCode(code) }
}

/**
 * Finds the coupon of a code as a customer typed it. `priceOrder` decides whether it can be used,
 * and needs `customer_used` for that.
 */
export async function findForCheckout(
  db: Db,
  code: string,
  customer_ref = '',
): Promise<CheckoutCoupon | null> {
  const folded = readCode(code)
  const found = folded === null ? null : await queries.findByCode(db, folded, customer_ref)
  return found === null ? null : limitByCampaign(db, found)
}

/** Whether the store has a code, even one that cannot be used now. */
export async function hasCode(db: Db, code: string): Promise<boolean> {
  const folded = readCode(code)
  return folded !== null && queries.hasCode(db, folded)
}

/** Returns a code as it is stored, or null if no stored code can have this form. */
function readCode(code: string): string | null {
  const folded = foldCode(code)
  return folded === '' || folded.length > FOLDED_LENGTH_MAX ? null : folded
}

/**
 * Limits a coupon by its campaign: while the campaign does not run, the coupon cannot be used. A coupon without a
 * campaign costs no statement.
 */
async function limitByCampaign(db: Db, coupon: FoundCoupon): Promise<CheckoutCoupon> {
  if (coupon.campaign_id === null) return { ...coupon, budget_left_cents: null }
  const { stop, starts_at, budget_left_cents } = await campaigns.allowanceOf(db, coupon.campaign_id)
  const limited = { ...coupon, budget_left_cents }
  if (stop === null || coupon.status !== 'active') return limited
  return stop === 'not_started' ? { ...limited, starts_at } : { ...limited, status: stop }
}

/** An id that no campaign has. */
const NO_CAMPAIGN = '00000000-0000-0000-0000-000000000000'

/**
 * The coupon of an order. An edit is priced with it, even if new orders could not use it any more.
 */
export const findOfOrder = queries.findOfOrder

const FOLDED_LENGTH_MAX = 256

/** Folds a code: all cases and widths get one spelling. The upper case in between makes ß, ẞ and ss equal. */
export const foldCode = (code: string): string =>
  code.trim().normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')

/** Limits the folded length: some characters fold into a whole phrase. */
function requireShort(folded: string, path: 'code' | 'prefix'): string {
  if (folded.length <= FOLDED_LENGTH_MAX) return folded
  throw invalidBody(path, 'is too long: its characters expand to more than 256')
}

const NO_TERMS = {
  percent_bps: null,
  amount_cents: null,
  min_subtotal_cents: null,
  max_discount_cents: null,
  starts_at: null,
  ends_at: null,
  usage_limit: null,
  usage_limit_per_customer: null,
  first_order_only: false,
  applies_to: null,
  recurring: false,
  referral_code: null,
}

/** Returns the terms after a change, or throws a refusal that lists the invalid ones. */
function checkTerms(before: CouponTerms, { applies_to, ...patch }: CouponPatch): CouponTerms {
  const issues: { path: string; message: string }[] = []
  const check = (holds: boolean, path: string, message: string) => {
    if (!holds) issues.push({ path, message })
  }
  const given = Object.entries(patch).filter(([name]) => name in NO_TERMS)
  const terms: CouponTerms = { ...before, ...Object.fromEntries(given) }
  if (applies_to !== undefined) {
    const { product_ids = [], collection_slugs = [] } = applies_to ?? {}
    // The spelling that the lines of an order have for their products and collections.
    const ids = product_ids.map((id) => id.toLowerCase())
    const slugs = collection_slugs.map((slug) => slug.normalize('NFC'))
    terms.applies_to = applies_to === null ? null : { product_ids: ids, collection_slugs: slugs }
    const some = applies_to === null || product_ids.length + collection_slugs.length > 0
    check(some, 'applies_to', 'must name a product or a collection, or be null')
  }
  for (const name of ['starts_at', 'ends_at'] as const) {
    const at = terms[name] === null ? null : toUtc(terms[name])
    check(at !== null || terms[name] === null, name, 'must be a time in the years 1 to 9999')
    terms[name] = at
  }
  const { type, percent_bps, amount_cents, starts_at, ends_at } = terms
  check((type === 'percent') === (percent_bps !== null), 'percent_bps', only('percent'))
  check((type === 'fixed') === (amount_cents !== null), 'amount_cents', only('fixed'))
  check(!starts_at || !ends_at || starts_at < ends_at, 'ends_at', 'must be after starts_at')
  if (issues.length > 0) throw invalidBodyOf(issues)
  return terms
}

const only = (type: string) => `must be sent for the type ${type}, and for no other type`

const auditCoupon = (
  tx: Tx,
  actor: audit.Actor,
  verb: string,
  change: { before?: Coupon; after: Coupon },
) =>
  audit.record(tx, actor, {
    action: `coupon.${verb}`,
    entity: `coupon:${change.after.id}`,
    ...change,
  })
