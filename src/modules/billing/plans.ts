import { mapViolations } from '../../db/constraints.ts'
import type { AllStores, Directory, TenantDb } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { readEach, readParts, requireRules } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import * as audit from '../../platform/audit.ts'
import * as entitlements from '../entitlements/service.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import { ISSUER } from './invoices.ts'
import { isFree } from './month-price.ts'
import { dayOf } from './months.ts'
import {
  type Issuer,
  type IssuerChange,
  METERS,
  type Meter,
  type MeterPrice,
  type NewPlan,
  type Plan,
  type PlanChoice,
} from './plan-schema.ts'
import * as queries from './queries.ts'
import { readPlan } from './service.ts'
import { requireIssuer } from './settle.ts'

/** The plans that the operator offers, and the plan of each store. */

/**
 * The smallest number of bytes that a price of media may be for. A price for a part of a megabyte would give amounts
 * smaller than any coin.
 */
const MEDIA_PER_MIN = 1_048_576

/** Adds a plan, or the next version of one. Stores keep the version that they have. */
export async function addPlan(db: Directory, actor: audit.Actor, plan: NewPlan) {
  const { meters } = readParts({
    currency: () => stores.checkCurrency(plan.currency),
    meters: () => readMeters(plan.meters),
  })
  // Of two versions added at the same time, one is refused: its operator must look at the other first.
  const added = await mapViolations(
    queries.insertPlan(db, { ...plan, meters }, actor.name),
    {
      billing_plans_pkey: 'plan_changed',
    },
    refuse,
  )
  return { plan: added }
}

/** Reads the prices, without members that we do not know: what is stored is what is billed. */
function readMeters(meters: NewPlan['meters']): NewPlan['meters'] {
  const prices = readEach(METERS, (meter) => {
    const price = meters[meter]
    if (price === undefined) return []
    const tiers = price.tiers.map(({ up_to, price_cents, per }) => ({ up_to, price_cents, per }))
    checkTiers(meter, { included: price.included, tiers })
    return [[meter, { included: price.included, tiers }] as const]
  })
  return Object.fromEntries(prices.flat())
}

function checkTiers(meter: Meter, { included, tiers }: MeterPrice): void {
  readEach(tiers, ({ up_to, price_cents, per }, at) => {
    const path = `meters.${meter}.tiers[${at}]`
    const isLast = at === tiers.length - 1
    const before = tiers[at - 1]?.up_to ?? included
    const grows = isLast || up_to === null || up_to > before
    const isShare = meter !== 'gross_volume' || price_cents <= per
    const isMuch = meter !== 'media_bytes' || per >= MEDIA_PER_MIN
    requireRules([
      [
        isLast === (up_to === null),
        `${path}.up_to`,
        'must be null in the last tier, and in no other',
      ],
      [grows, `${path}.up_to`, 'must be more than the included units and the tier before'],
      [isShare, `${path}.price_cents`, 'must not be more than the volume itself'],
      [isMuch, `${path}.per`, `must be at least ${MEDIA_PER_MIN}`],
    ])
  })
}

export async function listPlans(operator: AllStores, page: Page) {
  const { rows, shown } = await queries.listPlans(operator, page)
  return { plans: rows, ...shown }
}

/** Gives a store a plan, from today on, and the tier of the plan with it. */
export function setPlan(db: TenantDb, actor: audit.Actor, { plan_key, version }: PlanChoice) {
  return db.transaction('billing: set plan', async (tx) => {
    const account = await queries.lockAccount(tx)
    const plan = await queries.findPlan(tx, plan_key, version ?? null)
    if (plan === null) throw refuse('plan_not_found')
    const { plan: before, tier } = await readPlan(tx)
    if (!isFree(plan)) {
      await requireIssuer(tx)
      assertCurrency(plan, [account.currency, await stores.lockCurrency(tx)])
      if (account.currency === null) await queries.setCurrency(tx, plan.currency)
    }
    await queries.insertStorePlan(tx, plan, dayOf(tx.clock.now()), actor.name)
    if (tier !== plan.tier) await entitlements.putTier(tx, actor, plan.tier)
    await audit.record(tx, actor, {
      action: 'billing.plan_set',
      entity: `store:${tx.tenant}`,
      before: { plan_key: before.plan_key, version: before.version },
      after: { plan_key: plan.plan_key, version: plan.version },
    })
    return readPlan(tx)
  })
}

/**
 * Refuses a plan in a wrong currency. A store has one currency on all its invoices; a share of its volume can only be
 * in the store's own.
 */
function assertCurrency(plan: Plan, [billed, own]: [string | null, string]): void {
  const isShare = plan.meters.gross_volume !== undefined
  if ((billed ?? plan.currency) === plan.currency && (!isShare || own === plan.currency)) return
  throw refuse('plan_currency', { body: { currency: isShare ? own : billed } })
}

const DEFAULT_ISSUER: Omit<Issuer, 'name' | 'lines' | 'updated_at'> = {
  id: ISSUER,
  note: null,
  invoice_prefix: 'INV-',
  credit_prefix: 'CN-',
  payment_days: 14,
  reminders: [
    { days: 3, text: 'We have not received the payment of this invoice yet.' },
    { days: 10, text: 'This invoice has been due for ten days. Please pay it.' },
    { days: 21, text: 'This invoice is still open. Please pay it, or write to us today.' },
  ],
}

/** Finds the issuer. It is null if it was never set, and then nothing can be billed. */
export const findIssuer = async (db: Runner) => ({ issuer: await queries.findIssuer(db, ISSUER) })

/** Sets who sends the invoices. Members that are absent stay as they are. Issued invoices do not change. */
export function setIssuer(db: Directory, change: IssuerChange): Promise<{ issuer: Issuer }> {
  return db.transaction('billing: set issuer', async (tx) => {
    const before = (await queries.findIssuer(tx, ISSUER)) ?? DEFAULT_ISSUER
    const issuer = { ...before, ...change }
    const isOrdered = issuer.reminders.every(
      ({ days }, at) => days > (issuer.reminders[at - 1]?.days ?? -1),
    )
    const differs = issuer.invoice_prefix !== issuer.credit_prefix
    requireRules([
      [differs, 'credit_prefix', 'must differ from `invoice_prefix`'],
      [isOrdered, 'reminders', 'must be sorted by their days'],
    ])
    const reminders = issuer.reminders.map(({ days, text }) => ({ days, text }))
    return { issuer: await queries.putIssuer(tx, { ...issuer, reminders }) }
  })
}
