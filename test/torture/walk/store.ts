import assert from 'node:assert/strict'
import { callerOf, patient } from '../../harness/app.ts'
import { ALL_OPTIONS, addVariant, enable, openShop, stock } from '../../modules/checkout/setup.ts'
import { asOperator } from './installation.ts'

/** Orders from this address are held for review. */
export const REVIEWED_IP = '203.0.113.7'

/** The stores whose prices have the tax inside. */
const TAX_INSIDE = ['brew']

const CUSTOMERS = 14

/** Enough for the whole walk, and little enough that it runs out. */
const PLENTY = 1_000_000
const SCARCE = 60

/** A store of the walk, and what its shoppers and merchants know of it. */
export interface WalkStore {
  tenant: string
  merchant: Record<string, string>
  variants: readonly string[]
  /** The one variant that can be subscribed to. */
  subscribed: string
  /** The one variant that is a gift card. */
  giftCard: string
  coupons: readonly string[]
  /** Codes of affiliates: one gets a part of each sale, the other a fixed amount. */
  referralCodes: readonly string[]
  customers: readonly string[]
  giftCardCodes: string[]
  /** The ids of orders that can be changed. */
  orders: string[]
  /** The ids of those that were exchanged, and of what they were exchanged for. */
  exchanged: string[]
  /** What a reader of the feed has seen: the id of each event by its number. */
  feed: Map<number, string>
}

export async function openStore(url: string, tenant: string): Promise<WalkStore> {
  const operator = patient(asOperator(url))
  const owner_email = `owner@${tenant}.example`
  const made = await operator.post('/v1/stores', {
    tenant_ref: tenant,
    display_name: `The ${tenant} store`,
    owner_email,
  })
  assert.equal(made.status, 201, made.text)
  const account = { email: owner_email, password: 'a password for tests', name: 'Owner' }
  const signedUp = await patient(callerOf(url, {})).post('/v1/identity/signup', account)
  assert.equal(signedUp.status, 201, signedUp.text)
  const session = { authorization: `Bearer ${signedUp.body.session.token}` }
  const owner = patient(callerOf(url, session))
  const newKey = async () => {
    const { body, text } = await owner.post('/v1/my/credentials/initial', {})
    assert.ok(body.credential?.key, text)
    return { authorization: `Bearer ${body.credential.key}` }
  }
  const draft = patient(callerOf(url, await newKey()))
  await openShop({ operator, merchant: async () => draft }, tenant, [], {
    ...ALL_OPTIONS,
    tax: { prices_include_tax: TAX_INSIDE.includes(tenant) },
  })
  const credential = await newKey()
  const merchant = patient(callerOf(url, credential))
  await enable(merchant, 'gift_cards', 'store_credit', 'subscriptions', 'affiliates')
  const [plain, counted, scarce] = [
    await addVariant(merchant, 1_999),
    await addVariant(merchant, 731),
    await addVariant(merchant, 4_550),
  ]
  await stock(merchant, counted, PLENTY)
  await stock(merchant, scarce, SCARCE)
  const terms = { is_subscription: true, subscription_interval: 'month' }
  const subscribed = await addVariant(merchant, 2_400, terms)
  const giftCard = await addVariant(merchant, 2_500, {}, { gift_card: true })
  const coupons = ['TENTH', 'FEW']
  await addCoupon(merchant, { code: 'TENTH', type: 'percent', percent_bps: 1_000 })
  await addCoupon(merchant, { code: 'FEW', type: 'fixed', amount_cents: 500, usage_limit: 25 })
  const referralCodes = ['PART', 'FIXED']
  await addAffiliate(merchant, { code: 'PART', commission_type: 'percent', rate_bps: 1_250 })
  await addAffiliate(merchant, { code: 'FIXED', commission_type: 'fixed', amount_cents: 300 })
  const ban = { kind: 'ip', value: REVIEWED_IP, action: 'review' }
  const banned = await merchant.post('/v1/merchant/fraud/bans', ban)
  assert.equal(banned.status, 201, banned.text)
  return {
    tenant,
    merchant: credential,
    variants: [plain, counted, scarce],
    subscribed,
    giftCard,
    coupons,
    referralCodes,
    customers: Array.from({ length: CUSTOMERS }, (_, n) => `${tenant}-customer-${n}-end`),
    giftCardCodes: [],
    orders: [],
    exchanged: [],
    feed: new Map(),
  }
}

async function addCoupon(merchant: ReturnType<typeof callerOf>, coupon: object): Promise<void> {
  const answer = await merchant.post('/v1/merchant/marketing/coupons', coupon)
  assert.equal(answer.status, 201, answer.text)
}

async function addAffiliate(
  merchant: ReturnType<typeof callerOf>,
  terms: { code: string; commission_type: string; rate_bps?: number; amount_cents?: number },
): Promise<void> {
  const person = { name: 'Fay Friend', email: `${terms.code.toLowerCase()}@affiliate.example` }
  const answer = await merchant.post('/v1/merchant/affiliates', { ...person, ...terms })
  assert.equal(answer.status, 201, answer.text)
}
