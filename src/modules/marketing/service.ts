import { randomInt } from 'node:crypto'
import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { toUtc } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import * as queries from './queries.ts'
import type {
  CheckoutCoupon,
  Coupon,
  CouponPatch,
  CouponStatus,
  CouponTerms,
  NewCodes,
  NewCoupon,
} from './schema.ts'

/** Makes a coupon. It is active at once, unless it is to be a draft. */
export function create(db: TenantDb, actor: audit.Actor, wanted: NewCoupon): Promise<Coupon> {
  const { code, status = 'active' } = wanted
  const folded = requireShort(foldCode(code), 'code')
  const terms = checkTerms({ ...NO_TERMS, type: wanted.type }, wanted)
  return db.transaction('marketing: create coupon', async (tx) => {
    const made = await queries.insertCoupon(tx, { code, status, ...terms })
    await mapViolations(queries.insertMainCode(tx, made.id, { code, folded }), {
      coupon_codes_folded: 'code_exists',
    })
    await announce(tx, actor, 'created', { after: made })
    return made
  })
}

export function change(db: TenantDb, actor: audit.Actor, id: string, patch: CouponPatch) {
  return withCoupon(db, 'marketing: change coupon', id, async (tx, before) => {
    const after = await queries.updateTerms(tx, id, checkTerms(before, patch))
    await announce(tx, actor, 'changed', { before, after })
    return after
  })
}

/** Repeating either is harmless. Whose time or uses are over stays so when it is activated. */
export const pause = (db: TenantDb, actor: audit.Actor, id: string) =>
  switchTo(db, actor, id, 'paused')
export const activate = (db: TenantDb, actor: audit.Actor, id: string) =>
  switchTo(db, actor, id, 'active')

function switchTo(db: TenantDb, actor: audit.Actor, id: string, to: 'active' | 'paused') {
  return withCoupon(db, `marketing: coupon ${to}`, id, async (tx, before) => {
    const isThere = to === 'paused' ? before.status === 'paused' : isActivated(before)
    if (isThere) return before
    const after = await queries.updateStatus(tx, id, to)
    await announce(tx, actor, to === 'active' ? 'activated' : 'paused', { before, after })
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

export async function list(db: Db, status: CouponStatus | undefined, page: Page) {
  const [coupons, { total }] = await Promise.all([
    queries.listCoupons(db, status, page),
    queries.countCoupons(db, status),
  ])
  return { coupons, total, ...page }
}

export async function listRedemptions(db: Db, id: string, page: Page) {
  await get(db, id)
  const [redemptions, { total }] = await Promise.all([
    queries.listRedemptions(db, id, page),
    queries.countRedemptions(db, id),
  ])
  return { redemptions, total, ...page }
}

export async function listCodes(db: Db, id: string, page: Page) {
  await get(db, id)
  const [codes, { total }] = await Promise.all([
    queries.listCodes(db, id, page),
    queries.countCodes(db, id),
  ])
  return { codes, total, ...page }
}

/** Makes codes for one use each. */
export function makeCodes(db: TenantDb, actor: audit.Actor, id: string, wanted: NewCodes) {
  const { count, prefix = '' } = wanted
  requireShort(randomCode(prefix).folded, 'prefix')
  return db.transaction('marketing: make codes', async (tx) => {
    await get(tx, id)
    const codes: string[] = []
    // A code that is taken is not made, so that a few may be missing.
    while (codes.length < count) {
      const fresh = Array.from({ length: count - codes.length }, () => randomCode(prefix))
      const made = await queries.insertSingleCodes(tx, id, fresh)
      codes.push(...made.map(({ code }) => code))
    }
    await audit.record(tx, actor, {
      action: 'coupon.codes_made',
      entity: `coupon:${id}`,
      after: { count, prefix },
    })
    return { codes }
  })
}

/** Letters and digits that are not taken for one another: Crockford's. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** 60 bits: who guesses finds one of a thousand codes after some 10^15 tries. */
const RANDOM_LENGTH = 12

function randomCode(prefix: string): queries.NewCode {
  const letters = Array.from({ length: RANDOM_LENGTH }, () => LETTERS.charAt(randomInt(32)))
  const code = prefix + letters.join('')
  return { code, folded: foldCode(code) }
}

/**
 * The coupon behind a code as a customer typed it, or null. Whether it can be used is for the price
 * function to say; `customer_used` is what it asks for.
 */
export async function findForCheckout(
  db: Db,
  code: string,
  customer_ref = '',
): Promise<CheckoutCoupon | null> {
  const folded = foldCode(code)
  if (folded === '' || folded.length > FOLDED_LENGTH_MAX) return null
  return queries.findByCode(db, folded, customer_ref)
}

/** What an order's edit is priced with: its own coupon, even if nobody could use it any more. */
export const findOfOrder = queries.findOfOrder

const FOLDED_LENGTH_MAX = 256

/** One spelling for all cases and widths. By way of the capitals, so that ß, ẞ and ss are one. */
export const foldCode = (code: string): string =>
  code.trim().normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')

/** Some signs stand for a whole phrase, which is what their one spelling is. */
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
}

/** The terms as they will be, or a refusal that says which of them does not fit. */
function checkTerms(before: CouponTerms, { applies_to, ...patch }: CouponPatch): CouponTerms {
  const issues: { path: string; message: string }[] = []
  const expect = (holds: boolean, path: string, message: string) => {
    if (!holds) issues.push({ path, message })
  }
  const given = Object.entries(patch).filter(([name]) => name in NO_TERMS)
  const terms: CouponTerms = { ...before, ...Object.fromEntries(given) }
  if (applies_to !== undefined) {
    const { product_ids = [], collection_slugs = [] } = applies_to ?? {}
    // In the one spelling in which the lines of an order name their products and collections.
    const ids = product_ids.map((id) => id.toLowerCase())
    const slugs = collection_slugs.map((slug) => slug.normalize('NFC'))
    terms.applies_to = applies_to === null ? null : { product_ids: ids, collection_slugs: slugs }
    const some = applies_to === null || product_ids.length + collection_slugs.length > 0
    expect(some, 'applies_to', 'must name a product or a collection, or be null')
  }
  for (const name of ['starts_at', 'ends_at'] as const) {
    const at = terms[name] === null ? null : toUtc(terms[name])
    expect(at !== null || terms[name] === null, name, 'must be a time in the years 1 to 9999')
    terms[name] = at
  }
  const { type, percent_bps, amount_cents, starts_at, ends_at } = terms
  expect((type === 'percent') === (percent_bps !== null), 'percent_bps', only('percent'))
  expect((type === 'fixed') === (amount_cents !== null), 'amount_cents', only('fixed'))
  expect(!starts_at || !ends_at || starts_at < ends_at, 'ends_at', 'must be after starts_at')
  if (issues.length > 0) throw new ApiError('invalid_body', { body: { issues } })
  return terms
}

const only = (type: string) => `must be sent for the type ${type}, and for no other type`

const announce = (
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
