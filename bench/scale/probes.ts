import type { ApiDocument, Operation, Parameter } from '../../src/http/api-document.ts'
import type { Plane } from '../../src/http/route.ts'
import { RESOURCES } from '../../test/harness/all-resources.ts'
import { CATALOG, ORDERS, type Pair } from './size.ts'
import type { Target } from './targets.ts'

/** A request that is measured in two stores. */
export interface Probe {
  /** The path of the route, as the document has it. */
  route: string
  /** The kind of the request: `first page`, a filter, or `deep offset`. */
  name: string
  plane: Plane
  pair: Pair
  /** A list over all stores, which no store of a hundredth can be compared with. */
  global: boolean
  /** Compared by pages: first pages, filters and single reads, but no deep offset. */
  judged: boolean
  /** The path and query in a store. */
  path(target: Target): string
}

/** Routes that read no store's rows, or that a probe cannot call, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  '/healthz': 'reads nothing',
  '/readyz': 'reads no rows of stores',
  '/stores/{tenant}/assets/{file}': 'sends a file of the blob store',
  '/v1/preview-resolve': 'needs a token of a preview, and reads one version of a site',
  '/v1/merchant/mails/preview': 'reads one order and one version of a site',
  '/v1/merchant/mails/{id}': 'writes one mail anew, which no store here has',
  '/v1/merchant/billing/credit-notes/{id}.pdf': 'reads one credit note, which no store here has',
  '/v1/merchant/fulfillments/rates': 'asks the carriers, and reads one order',
  '/v1/merchant/fulfillments/{id}/label': 'reads one label, which a carrier has to sell first',
  '/v1/merchant/fulfillments/{id}/label.pdf': 'asks a carrier for one label',
  '/v1/my/privacy/exports/{id}': 'needs an export that the worker makes',
}

/** Routes whose pages are no share of the store, so that two stores cannot be compared by them. */
const NOT_COMPARED: Readonly<Record<string, string>> = {
  '/v1/merchant/affiliates/{id}':
    'sums what is owed and not paid, which follows the orders since the last payout',
  '/v1/merchant/affiliates/{id}/export': 'all commissions of one person, up to 10,000',
  '/v1/merchant/affiliates/payouts/export.csv':
    'streams until its reader leaves; only its first rows are timed',
  '/v1/merchant/analytics/payments/rows':
    'the attempts of as many days as have a page of the outcome',
  '/v1/merchant/analytics/funnel/rows': 'a period of more days has more counts to group',
  '/v1/merchant/analytics/inventory':
    'a sum for each day on which a variant sold, at most those of the period',
  '/v1/merchant/analytics/inventory.csv': 'the same',
  '/v1/merchant/analytics/funnel':
    'reads a row for each product and day: as many as the catalog has',
  '/v1/merchant/analytics/funnel.csv': 'the same',
  '/v1/merchant/ledger/proof': 'one call verifies 10,000 journals, which a hundredth may not have',
  '/v1/tenants/{tenant}/catalog/sitemap': 'a part has as many addresses as a file of a sitemap may',
  '/v1/merchant/subscriptions/upcoming':
    'a row for each subscription that is charged, up to 5,000, and its product',
  '/v1/tenants/{tenant}/feeds/google.tsv': 'streams, and only its first rows are timed',
  '/v1/tenants/{tenant}/feeds/openai.jsonl.gz': 'the same',
  '/v1/merchant/orders/export.csv':
    'streams until its reader leaves; only its first rows are timed',
  '/v1/merchant/marketing/subscribers/export.csv': 'the same',
  '/v1/merchant/catalog/products/export.csv': 'the same',
}

const PLANES: readonly Plane[] = ['merchant', 'operator', 'storefront', 'public']

/** A value of a parameter, with its name in the report. */
interface Value {
  label: string
  in(target: Target): string | undefined
}

const of = (name: string): Value => ({ label: `<${name}>`, in: (target) => target[name] })
const fixed = (value: string): Value => ({ label: value, in: () => value })

type PathValue = readonly [route: string, name: string, value: Value]

/** The ids that the resources of modules name. */
const RESOURCE_IDS = RESOURCES.flatMap(({ scale }) =>
  Object.entries(scale?.paths ?? {}).map(([route, target]): PathValue => [route, 'id', of(target)]),
)

/** Path parameters, by the beginning of their route and by name; the first that fits counts. */
const PATH_VALUES: readonly PathValue[] = [
  ...RESOURCE_IDS,
  ['/v1/merchant/catalog/products/', 'id', of('product_id')],
  ['/v1/merchant/catalog/collections/', 'id', of('collection_id')],
  ['/v1/merchant/orders/', 'id', of('order_id')],
  ['/v1/merchant/returns/', 'id', of('return_id')],
  ['/v1/merchant/subscriptions/', 'id', of('plan_id')],
  ['/v1/tenants/{tenant}/subscriptions/', 'id', of('plan_id')],
  ['/v1/merchant/deliveries/', 'id', of('delivery_id')],
  ['/v1/merchant/domains/', 'id', of('domain_id')],
  ['/v1/merchant/billing/', 'id', of('billing_invoice_id')],
  ['/v1/stores/{tenant}/billing/', 'id', of('billing_invoice_id')],
  ['/v1/merchant/entitlements/requests/', 'id', of('request_id')],
  ['/v1/merchant/fraud/bans/', 'id', of('ban_id')],
  ['/v1/merchant/gift-cards/', 'id', of('gift_card_id')],
  ['/v1/merchant/inventory/locations/', 'id', fixed('default')],
  ['/v1/merchant/affiliates/commissions/', 'id', of('commission_id')],
  ['/v1/merchant/affiliates/payouts/', 'id', of('payout_id')],
  ['/v1/merchant/affiliates/', 'id', of('affiliate_id')],
  ['/v1/merchant/marketing/campaigns/', 'id', of('campaign_id')],
  ['/v1/merchant/pricing-groups/', 'id', of('group_id')],
  ['/v1/merchant/store-credit/', 'customer_ref', of('credit_ref')],
  ['/v1/tenants/{tenant}/catalog/collections/', 'slug', of('collection')],
  ['/v1/gateway/', 'event_id', of('gateway_event_id')],
  ['/v1/gateway/', 'provider', fixed('scale')],
  ['/v1/gateway/', 'account_ref', of('tenant')],
  ['/v1/entitlements/', 'key', fixed('gift_cards')],
  ['', 'operation', fixed('checkout')],
  ['', 'key', of('answered_key')],
  ['', 'tenant', of('tenant')],
  ['', 'orderId', of('order_id')],
  ['', 'customer_ref', of('customer_ref')],
  ['', 'variant_id', of('variant_id')],
  ['', 'version', fixed('1')],
  ['', 'sha256', of('sha256')],
  ['', 'slug', of('slug')],
]

/** A value that no row has: a list must not read everything to find nothing. */
const NOTHING = { ...fixed('nothing-has-this'), label: 'none' }
const NO_ID = { ...fixed('00000000-0000-4000-8000-000000000000'), label: 'none' }

type QueryValues = readonly [route: string, name: string, values: Value[]]

/** Filters by an id of a resource. */
const RESOURCE_FILTERS = RESOURCES.flatMap(({ scale }) =>
  Object.keys(scale?.targets ?? {}).map((name): QueryValues => ['', name, [of(name), NO_ID]]),
)

/** Values of the filters that have no fixed set, by the beginning of the route and by name. */
const QUERY_VALUES: readonly QueryValues[] = [
  ['/v1/merchant/customers', 'q', [of('email'), fixed('customer'), NOTHING]],
  ['/v1/merchant/catalog/products', 'q', [fixed('harbour'), of('product_name'), NOTHING]],
  ['/v1/merchant/orders', 'q', [of('email'), fixed('customer-'), of('sku'), NOTHING]],
  ['/v1/tenants/{tenant}/catalog/search', 'q', [fixed('coffee'), fixed('harbuor'), NOTHING]],
  ['/v1/tenants/{tenant}/catalog/suggestions', 'q', [fixed('co'), fixed('harbuor'), NOTHING]],
  ['/v1/stores', 'q', [of('tenant'), fixed('store'), NOTHING]],
  ['/v1/merchant/ledger/', 'from', [fixed('1')]],
  ['/v1/merchant/billing/', 'period', [fixed('2026-01')]],
  ['/v1/merchant/billing/', 'plan', [fixed('default')]],
  ['/v1/merchant/billing/', 'version', [fixed('1')]],
  ['/v1/merchant/analytics/', 'key', [of('product_id'), NO_ID]],
  ['/v1/merchant/analytics/', 'currency', [fixed('USD'), fixed('EUR')]],
  ['/v1/merchant/analytics/', 'reason', [fixed('card_declined'), NOTHING]],
  ['/v1/tenants/{tenant}/subscriptions', 'customer_ref', [of('plan_customer_ref')]],
  ['', 'customer_ref', [of('customer_ref'), NOTHING]],
  ['', 'order_number', [of('order_number')]],
  ['', 'created_from', [of('middle')]],
  ['', 'created_to', [of('middle')]],
  ['', 'from', [of('middle')]],
  ['', 'to', [of('middle')]],
  ['', 'coupon_code', [fixed('WELCOME10'), NOTHING]],
  ['', 'campaign_id', [of('campaign_id'), NO_ID]],
  ['/v1/merchant/marketing/campaigns', 'channel', [fixed('email'), NOTHING]],
  ['/v1/merchant/marketing/', 'currency', [fixed('USD'), fixed('EUR')]],
  ['', 'sku', [of('sku'), NOTHING]],
  ['', 'subscription_id', [of('subscription_id'), NO_ID]],
  ['', 'due_before', [of('middle'), fixed('2999-01-01')]],
  ['', 'days', [fixed('30')]],
  ['', 'event_type', [fixed('commerce.order.placed.v1'), NOTHING]],
  ['', 'event_id', [of('event_id'), NO_ID]],
  ['', 'order_id', [of('order_id'), NO_ID]],
  ['', 'variant_id', [of('variant_id'), NO_ID]],
  ['', 'affiliate_id', [of('affiliate_id'), NO_ID]],
  ['', 'location_id', [fixed('default'), NOTHING]],
  ['', 'lead_time_days', [fixed('14')]],
  ['', 'weight_grams', [fixed('500')]],
  ['', 'email', [of('email'), NOTHING]],
  ['', 'last4', [of('last4'), fixed('none')]],
  ['', 'actor', [fixed('merchant_key:scale'), NOTHING]],
  ['', 'action', [fixed('order.note_added'), NOTHING]],
  ['', 'tenant_ref', [of('tenant')]],
  ['', 'tenant', [of('tenant')]],
  ['', 'hostname', [{ label: '<hostname>', in: ({ tenant }) => `${tenant}.example` }]],
  [
    '',
    'owner_email',
    [{ label: '<owner>', in: ({ tenant }) => `owner@${tenant}.example` }, NOTHING],
  ],
  ['', 'provider', [fixed('scale'), NOTHING]],
  ['', 'account_ref', [of('tenant'), NOTHING]],
  ['', 'price_min_cents', [fixed('2000')]],
  ['', 'price_max_cents', [fixed('2000')]],
  ['', 'collection', [of('collection'), NOTHING]],
  ['', 'variants', [of('variant_id'), NO_ID]],
  ['', 'related_to', [of('slug'), NOTHING]],
  ['', 'part', [fixed('1')]],
  ...RESOURCE_FILTERS,
]

/** Parameters that choose a page and are no filter. */
const PAGING = ['limit', 'offset', 'after', 'before']

/** Every request that is measured, made from the document: a route that is added is measured too. */
export function listProbes(document: ApiDocument): Probe[] {
  return Object.entries(document.paths).flatMap(([route, item]) => {
    const { get } = item
    const plane = get?.['x-plane']
    if (get === undefined || plane === undefined || !PLANES.includes(plane)) return []
    return route in LEFT_OUT ? [] : probesOf(route, plane, get)
  })
}

function probesOf(route: string, plane: Plane, { parameters = [] }: Operation): Probe[] {
  const asked = parameters.filter((each) => each.in === 'query')
  const required = asked.filter((each) => isRequired(route, each))
  const isPaged = asked.some(({ name }) => name === 'limit')
  const always = [
    ...required.map(({ name }) => [name, firstValue(route, name)] as const),
    ...(isPaged ? [['limit', fixed('25')] as const] : []),
  ]
  const base = { route, plane, pair: pairOf(route), judged: !(route in NOT_COMPARED) }
  const isGlobal = plane === 'operator' && !route.includes('{')
  type Part = readonly [name: string, value: Value]
  const probe = (name: string, more: Part[] = [], needed: Part[] = always): Probe => ({
    ...base,
    name,
    global: isGlobal && !more.some(([key]) => NARROWING.includes(key)),
    path: (target) =>
      fillPath(route, target) + writeQuery([...unless(needed, more), ...more], target),
  })
  const filters = asked.filter((each) => !PAGING.includes(each.name) && !required.includes(each))
  const unlimited = always.filter(([name]) => name !== 'limit')
  return [
    probe('first page'),
    ...(WHOLE.test(route) ? [probe('no limit', [], unlimited)] : []),
    ...filters.flatMap((filter) =>
      valuesOf(route, filter).map((value) =>
        probe(`${filter.name}=${value.label}`, [[filter.name, value]]),
      ),
    ),
  ]
}

/** Lists that are whole without a limit, up to 5,000 products, and begin with a page above. */
const WHOLE = /\/catalog\/products$/

/** Filters of the operator by which a list over all stores becomes that of one. */
const NARROWING = ['tenant_ref', 'account_ref', 'owner_email']

/** Parameters that replace each other: a request has one of them. */
const EITHER = ['tenant', 'hostname']

/** Returns the parameters that a request needs, without one that another parameter replaces. */
const unless = <T>(needed: (readonly [string, T])[], more: (readonly [string, T])[]) =>
  needed.filter(([name]) => !(EITHER.includes(name) && more.some(([key]) => EITHER.includes(key))))

/** Whether a route needs a parameter: a search its words, rates an order, the read of a site one of two names. */
const isRequired = (route: string, { name, required }: Parameter) =>
  required === true ||
  (route === '/v1/resolve' && name === 'tenant') ||
  (/\/catalog\/(search|suggestions)$/.test(route) && name === 'q') ||
  (route.endsWith('/rates') && name === 'order_id') ||
  (route === '/v1/tenants/{tenant}/orders/{orderId}' && name === 'customer_ref') ||
  (route.startsWith('/v1/tenants/{tenant}/subscriptions') && name === 'customer_ref')

/** Lists of the catalog are measured in the store with many products, all others in that with many orders. */
const pairOf = (route: string): Pair =>
  OF_PRODUCTS.test(route) && !route.endsWith('/movements') ? CATALOG : ORDERS

const OF_PRODUCTS = /\/(catalog|feeds|media|pricing-groups|inventory)(\/|$)/

function valuesOf(route: string, { name, schema }: Parameter): Value[] {
  const listed = schema.type === 'boolean' ? [true, false] : schema.enum
  if (Array.isArray(listed)) return listed.map((each) => fixed(String(each)))
  return findValues(route, name)
}

function findValues(route: string, name: string): Value[] {
  const found = QUERY_VALUES.find(([start, each]) => each === name && route.startsWith(start))
  if (found === undefined) {
    throw new Error(`bench/scale/probes.ts does not know a value for ${name} of ${route}`)
  }
  return found[2]
}

const firstValue = (route: string, name: string): Value => {
  const [first] = findValues(route, name)
  if (first === undefined) throw new Error(`bench/scale/probes.ts has no value for ${name}`)
  return first
}

function fillPath(route: string, target: Target): string {
  return route.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const found = PATH_VALUES.find(([start, each]) => each === name && route.startsWith(start))
    const value = found?.[2].in(target)
    if (value === undefined) {
      throw new Error(`bench/scale/probes.ts does not know ${name} of ${route}`)
    }
    return encodeURIComponent(value)
  })
}

function writeQuery(parts: readonly (readonly [string, Value])[], target: Target): string {
  if (parts.length === 0) return ''
  const query = new URLSearchParams()
  for (const [name, value] of parts) query.set(name, value.in(target) ?? '')
  return `?${query}`
}
