/**
 * Every error this API can answer with: the contract's error table, as code.
 *
 * Sorted by status. A code is public and never changes its meaning or status;
 * the message is for people and may be reworded.
 */
export const ERRORS = {
  invalid_body: [400, 'The request body is not valid. Correct it as `issues` says.'],
  invalid_query: [400, 'The query string is not valid. Correct its parameters.'],
  invalid_request: [400, 'The request is not valid HTTP. Correct it and send it again.'],
  idempotency_key_required: [
    400,
    'The Idempotency-Key header is missing. Send one, and the same one with every retry.',
  ],
  idempotency_key_invalid: [400, 'The Idempotency-Key must be 1 to 255 visible ASCII characters.'],
  unknown_feature: [400, 'No such add-on. `GET /v1/my/entitlements` lists the add-ons.'],
  unknown_scope: [400, 'No such scope. Use a scope that the API reference names.'],
  unknown_event: [
    400,
    'Endpoints cannot subscribe to that event. Use `commerce.order.placed.v1`, or enable the add-on `extended_events` for others.',
  ],
  unsafe_url: [400, 'The URL must be HTTPS and lead to a public address. Use another URL.'],
  unauthorized: [401, 'The credential is missing, invalid, expired or revoked. Send a valid one.'],
  invalid_signature: [401, 'The signature is missing, expired or wrong. Check the signing key.'],
  card_required: [402, 'The other tenders do not cover the total. Send a card for the rest.'],
  payment_declined: [
    402,
    'The payment was declined. `decline` says why and whether a retry helps.',
  ],
  forbidden: [403, 'The credential lacks the scope of this route. Use one that has it.'],
  scope_escalation: [403, 'A key cannot grant scopes that it does not hold. Leave those out.'],
  not_self_serve: [403, 'Merchants cannot switch this add-on. Request it from the operator.'],
  operator_restricted: [403, 'The operator has denied this add-on to the store. Ask the operator.'],
  feature_not_enabled: [403, 'The store does not have this add-on. Enable it first.'],
  csrf_required: [403, 'A write by cookie needs the `x-fd-csrf` header. Send it with any value.'],
  email_not_verified: [
    403,
    'Your address is not verified. Open the link in the mail; `POST /v1/identity/verify/resend` sends another.',
  ],
  wrong_password: [403, 'The current password is wrong. Send the one that you log in with.'],
  fraud_rejected: [403, 'The order was refused. A retry does not help; contact the store.'],
  attestation_required: [403, "The shopper must accept the store's statement. Send `attestation`."],
  route_not_found: [404, 'No such route. Check the path in the API reference at /docs.'],
  unknown_tenant: [404, 'No such store.'],
  unknown_provider: [404, 'No such provider or account. Check both names in the path.'],
  version_not_found: [404, 'The site has no such version. `GET /v1/my/site` lists the versions.'],
  invalid_preview_token: [404, 'The preview token is not valid, or has expired. Create a new one.'],
  credential_not_found: [404, 'No such key. Check its id.'],
  request_not_found: [404, 'No such request. Check its id.'],
  domain_not_found: [404, 'No such domain. Check its id.'],
  gift_card_not_found: [404, 'No such gift card. Check its id or code.'],
  store_credit_not_found: [404, 'The customer has no store credit account. Check `customer_ref`.'],
  ban_not_found: [404, 'No such ban. Check its id.'],
  order_not_found: [404, 'No such order. Check its id.'],
  fulfillment_not_found: [404, 'No such parcel. Check its id.'],
  return_not_found: [404, 'No such return. Check its id.'],
  return_line_not_found: [404, 'The return has no such line. Check `return_line_id`.'],
  label_not_found: [404, 'The parcel has no shipping label. Buy one first.'],
  mail_not_found: [404, 'No such mail. `GET /v1/merchant/mails` lists the mails.'],
  charge_not_found: [404, 'The order has no such charge. Check `charge_id`.'],
  order_item_not_found: [404, 'The order has no such line. Check `order_item_id`.'],
  subscription_not_found: [404, 'No such subscription. Check its id.'],
  variant_not_found: [404, 'No such variant, or it is archived. Check its id.'],
  location_not_found: [404, 'No such location. Check its id.'],
  count_not_found: [404, 'No such count. Check its id.'],
  vendor_not_found: [404, 'No such vendor, or it is archived. Check its id.'],
  purchase_order_not_found: [404, 'No such purchase order. Check its id.'],
  customer_not_found: [404, 'No such customer. Check `customer_ref`.'],
  feed_not_found: [
    404,
    'The store has no host that shoppers reach, so that a feed would lead nowhere. Add a domain first.',
  ],
  webhook_not_found: [404, 'No such webhook endpoint. Check its id.'],
  delivery_not_found: [404, 'No such delivery. Check its id.'],
  gateway_event_not_found: [404, 'No such event of that provider and account. Check its id.'],
  product_not_found: [404, 'No such product. Check its id or slug.'],
  image_not_found: [404, 'The product has no such image. Check its hash.'],
  collection_not_found: [404, 'No such collection. Check its id or slug.'],
  asset_not_found: [404, 'No such asset. Check its hash, or upload it first.'],
  pricing_group_not_found: [404, 'No such pricing group. Check its id.'],
  member_not_found: [404, 'The customer is not in this group. Check `customer_ref`.'],
  invoice_not_found: [404, 'No such invoice. Check its id.'],
  credit_note_not_found: [404, 'No such credit note. Check its id.'],
  plan_not_found: [404, 'No such plan, or it is not offered. Check its key and version.'],
  price_not_found: [404, 'The group has no such price. Check `variant_id` and `min_quantity`.'],
  affiliate_not_found: [404, 'No such affiliate. Check the id.'],
  commission_not_found: [404, 'No such commission. Check its id.'],
  payout_not_found: [404, 'No such payout. Check its id.'],
  referral_code_not_found: [
    404,
    'No affiliate has this code, or it does not count now. Check the code.',
  ],
  subscriber_not_found: [404, 'No such subscriber. Check the id.'],
  suppression_not_found: [404, 'No such suppression, or it has been lifted. Check the id.'],
  segment_not_found: [404, 'No such segment. Check its id.'],
  coupon_not_found: [404, 'No such coupon. Check its id.'],
  campaign_not_found: [404, 'No such campaign. Check its id.'],
  payment_not_found: [404, 'No such payment. Check `attempt_id`.'],
  export_not_found: [404, 'No such export, or it has expired. Request a new one.'],
  idempotency_key_not_found: [404, 'No such Idempotency-Key of that operation. Check both.'],
  method_not_allowed: [405, 'The path does not support this method. See the `allow` header.'],
  request_timeout: [408, 'The request took too long to arrive. Send it again.'],
  tenant_exists: [409, 'A store with that `tenant_ref` already exists. Choose another.'],
  currency_fixed: [
    409,
    'The store has orders, gift cards or store credit in its currency. Create another store for another currency.',
  ],
  no_active_version: [409, 'The store has no published site. Publish a version first.'],
  email_exists: [409, 'An account with that e-mail address already exists. Log in instead.'],
  initial_credential_exists: [409, 'The store has an active initial key. Use it, or revoke it.'],
  already_enabled: [409, 'The add-on is already enabled. No request is needed.'],
  self_serve_available: [409, 'This add-on needs no request. Enable it directly.'],
  gateway_account_taken: [409, 'The account belongs to another store. Delete it there first.'],
  request_decided: [409, 'The request is no longer open. Read it to see how it ended.'],
  hostname_taken: [409, 'Another store has that hostname. Use another, or ask the operator.'],
  domain_not_active: [409, 'The domain is not active. Verify it first.'],
  domain_limit_reached: [409, 'The store has the maximum number of domains. Remove one first.'],
  invalid_transition: [
    409,
    'The current status does not allow this. `allowed` lists what it allows.',
  ],
  ban_exists: [409, 'That value is already banned. Lift that ban first to replace it.'],
  insufficient_stock: [409, 'There is not enough stock. `items` says how much is available.'],
  stale_level: [409, 'The stock has changed since it was read. Read it again, then adjust it.'],
  count_in_progress: [
    409,
    'One of these variants is being counted at this location already. Post or cancel that count first.',
  ],
  location_exists: [409, 'A location with that id already exists. Choose another id.'],
  location_in_use: [409, 'The location still has stock, or owes some. Empty it first.'],
  webhook_limit_reached: [409, 'The store has the maximum number of endpoints. Delete one first.'],
  webhook_paused: [
    409,
    'The endpoint is paused. Register its URL again, and then replay what it has missed.',
  ],
  rotation_in_progress: [
    409,
    'The secret was rotated in the last 24 hours. Wait until the previous one expires.',
  ],
  not_redrivable: [409, 'This delivery cannot be sent again. Check its status and its endpoint.'],
  slug_exists: [409, 'That slug is already used in this store. Choose another.'],
  sku_exists: [409, 'That SKU is already used in this store. Choose another.'],
  options_exist: [
    409,
    'Another variant of the product has these options. Change one, or archive that variant.',
  ],
  limit_reached: [
    409,
    'The store has as many as it may: see `limit`. Delete some, or ask the operator.',
  ],
  image_limit_reached: [409, 'The product has the maximum number of images. Remove one first.'],
  media_limit_reached: [
    409,
    "The store's space for images is full. Delete some, or ask the operator.",
  ],
  issuer_missing: [
    409,
    'The issuer of invoices is not set yet. Set it first: PUT /v1/billing/issuer.',
  ],
  sandbox_not_billed: [409, 'A sandbox store is never billed. Name another store.'],
  plan_changed: [409, 'Another version of the plan was added at the same time. Try again.'],
  plan_currency: [
    409,
    'The plan is in another currency than the store is billed in: see `currency`. Use another plan.',
  ],
  invoice_not_issued: [409, 'The invoice is a draft. Wait until it is issued.'],
  invoice_full: [409, 'The invoice of this month has as many charges as it may. Try next month.'],
  not_sandbox: [409, 'Only a sandbox store can move its time. Ask the operator for one.'],
  sandbox_fixed: [409, 'The store stays a sandbox: its time was moved. Create another store.'],
  sandbox_store: [
    409,
    'A sandbox store pays with the simulated gateway alone. Use a store that is no sandbox.',
  ],
  real_gateway: [
    409,
    'The store has or had a gateway that moves money, so it cannot be a sandbox. Create another store.',
  ],
  clock_advancing: [
    409,
    "The store's time is being moved. Wait until `state` is no longer `advancing`.",
  ],
  clock_has_orders: [
    409,
    'The store has orders, which would then lie in the future. Create another store instead.',
  ],
  exchange_open: [
    409,
    'An exchange has taken the money of this return. Cancel the order in `order_ids` first, or close the return.',
  ],
  nothing_to_exchange: [
    409,
    'The return has no refund that an exchange could take. For goods that are still to come send `advance: true`.',
  ],
  payment_request_closed: [
    409,
    'The shopper is not asked to pay for this order any more. `status` says why.',
  ],
  store_not_draft: [409, 'Only a draft store can be filled with samples. Create a store for them.'],
  asset_in_use: [409, 'The asset is in use. Remove it from the places in `refs` first.'],
  segment_exists: [409, 'A segment with that name already exists. Choose another name.'],
  complaint_stands: [
    409,
    'The reader complained, so only they can lift this, by asking for the newsletter again.',
  ],
  code_exists: [409, 'A coupon with that code already exists. Choose another code.'],
  affiliate_exists: [409, 'An affiliate with that e-mail address already exists. Change that one.'],
  referral_code_exists: [409, 'An affiliate already has that code. Choose another code.'],
  applications_closed: [409, 'The store takes no applications now. Ask its merchant.'],
  nothing_to_pay: [409, 'No affiliate is due. `skipped` says why those who were named are not.'],
  coupon_used: [409, 'The coupon was used, so it stays in its campaign. Create another coupon.'],
  not_a_mail_campaign: [
    409,
    'Only campaigns of the channel `email` send mails. Create one of that channel.',
  ],
  no_owner_address: [
    409,
    'The store has no owner, so a test mail has no address. Ask the operator to set `owner_email`.',
  ],
  confirm_invalid: [
    409,
    '`confirm` is not valid, or has expired. Send the request without it for a new one.',
  ],
  erasure_too_broad: [
    409,
    'More than 100 other customers share an e-mail address of this one, so it names no one person. Ask the operator.',
  ],
  idempotency_in_progress: [
    409,
    'A request with that Idempotency-Key is still running. Retry with the same key.',
  ],
  return_window_closed: [
    409,
    'The time to return these units is over. `items` says when it ended; leave them out.',
  ],
  final_sale: [409, 'These products cannot be returned. Leave out the units in `items`.'],
  label_exists: [409, 'The parcel has a shipping label. Void it first to buy another.'],
  label_not_voidable: [
    409,
    'The carrier does not void the label: it was used, or is too old. Settle its cost with the carrier.',
  ],
  ship_to_missing: [
    409,
    'The order has no shipping address, which a label needs. Ship the parcel without one.',
  ],
  order_not_placed: [409, 'The order was not placed, so it has no invoice. Wait until it is paid.'],
  order_on_hold: [409, 'The order is on hold. Release it first.'],
  charge_in_progress: [
    409,
    'The subscription is being charged now. Read it to see how that ended, then try again.',
  ],
  card_unusable: [
    409,
    'The stored card cannot be charged again. The customer must put in another one.',
  ],
  card_tries_exhausted: [
    409,
    'The card was declined as often as its network allows. Try again after `next_attempt_at`, or with another card.',
  ],
  stale_subscription: [
    409,
    'The subscription has changed since that version was read. Read it again, then change it.',
  ],
  cycle_closed: [
    409,
    'This cycle is over, or too far ahead. `next_charges` and `skipped` list those to come.',
  ],
  order_busy: [409, 'Another change to this order is in progress. Try again in a moment.'],
  disputed: [
    409,
    'The card payment is disputed, and the bank may take the money itself. Wait until the dispute is over.',
  ],
  not_refundable: [409, 'There is nothing to refund: nothing was captured, or nothing is left.'],
  gift_card_spent: [
    409,
    'A gift card that the order bought is spent, in part or whole, and cannot be refunded. Refund the other units by `items`.',
  ],
  gift_card_issued: [
    409,
    'Gift cards of an order are issued, and their number stays. Refund them instead, which disables them.',
  ],
  payment_not_resolvable: [409, 'This payment cannot be resolved by hand now. See `reason`.'],
  refund_failed: [409, 'The gateway did not refund the money. See `reason` and `refunded_cents`.'],
  price_changed: [409, 'The total differs from the quote. Show the shopper a new preview.'],
  body_too_large: [413, 'The request body is too large. Send less.'],
  asset_too_large: [413, 'The file is larger than 20 MiB. Upload a smaller one.'],
  uri_too_long: [414, 'The request URL is too long. Send a shorter one.'],
  unsupported_media_type: [415, 'The content type is not supported. Send plain application/json.'],
  range_not_satisfiable: [
    416,
    "The range is beyond the asset's end. `content-range` has its size.",
  ],
  expectation_failed: [417, 'The Expect header is not supported. Send the request without it.'],
  amount_exceeds_balance: [
    422,
    'The amount exceeds what is owed: see `balance_cents`. Record at most that.',
  ],
  amount_exceeds_invoice: [
    422,
    'The amount exceeds what is left to credit: see `creditable_cents`. Credit at most that.',
  ],
  idempotency_key_reused: [422, 'That Idempotency-Key belongs to another request. Send a new key.'],
  content_mismatch: [422, 'The bytes are not of the declared content type. Declare the right one.'],
  image_invalid: [422, 'The image cannot be used. Export it again and upload the new file.'],
  hostname_invalid: [422, 'A store cannot have that hostname. Use a domain name of your own.'],
  stock_below_zero: [422, 'Stock cannot be negative. Send a smaller reduction.'],
  ruo_claims_violation: [
    422,
    'The manifest makes a prohibited health claim. Remove what `findings` lists.',
  ],
  insufficient_balance: [422, 'The balance is too small. Send at most `available_cents`.'],
  balance_limit_exceeded: [422, 'The balance would exceed the maximum. Send a smaller amount.'],
  gift_card_invalid: [422, 'The gift card cannot be used. Check its code, or pay without it.'],
  coupon_invalid: [422, 'The coupon cannot be used: see `reason`. Remove it, or use another.'],
  tax_provider_unavailable: [
    422,
    'That tax provider is not configured. Use another `tax.provider`.',
  ],
  amount_exceeds_refundable: [
    422,
    'The amount exceeds what is left to refund. Send at most `refundable_cents`.',
  ],
  quantity_exceeds_open: [
    422,
    'More units were named than can be packed. `items` says how many are open, and how many of them are in stock.',
  ],
  quantity_exceeds_returnable: [
    422,
    'More units were named than can be returned. `items` says how many have shipped and are in no return.',
  ],
  quantity_exceeds_expected: [
    422,
    'More units were named than the return expects, or has in quarantine. Send at most the numbers in `lines`.',
  ],
  fee_exceeds_refund: [
    422,
    'The restocking fee exceeds what the units are worth (`goods_cents`). Send a smaller one.',
  ],
  label_refused: [
    422,
    'The carrier has not sold the label: see `reason`. Correct it, or take another service.',
  ],
  unknown_service: [422, 'The carrier has no such service. `services` lists those it has.'],
  exceeds_ordered: [
    422,
    'More would be received than was ordered. Send at most the numbers in `lines`.',
  ],
  receipt_decreased: [
    422,
    'A receipt names the total received so far, which cannot become smaller. Send at least the numbers in `lines`.',
  ],
  currency_mismatch: [422, 'The items have different currencies. Order each currency separately.'],
  not_subscribable: [
    422,
    'The product of this variant has no subscription. Choose a variant of one that has.',
  ],
  subscription_card_required: [
    422,
    'A subscription needs a card for its renewals, and other tenders cover this order. Order without `subscribe`, or let the card pay a part.',
  ],
  country_not_served: [
    422,
    'The store does not ship to this country. Send one of `countries` in `shipping_address.country`, as its ISO 3166-1 code.',
  ],
  feature_disabled: [422, "The store's checkout does not offer this. Send the request without it."],
  rate_limited: [429, 'Too many attempts. Try again after `retry-after` seconds.'],
  velocity_exceeded: [429, 'Too many checkout attempts. Try again after `retry-after` seconds.'],
  headers_too_large: [431, 'The request headers are too large. Send fewer or shorter ones.'],
  payment_unconfirmed: [
    503,
    'The outcome of the payment is not known yet. Retry with the same Idempotency-Key.',
  ],
  carrier_unconfirmed: [
    503,
    'The carrier has not answered yet. Repeat the request, with the same Idempotency-Key if it had one.',
  ],
  carrier_unavailable: [503, 'The carrier does not answer. Try again in a moment.'],
  db_error: [503, 'rate limiter unavailable'],
  resolve_unavailable: [503, 'The store could not be read. Try again in a moment.'],
  auth_unavailable: [503, 'The credential could not be checked. Try again in a moment.'],
  scan_unavailable: [503, 'The claim scan could not run. Try again in a moment.'],
  service_unavailable: [503, 'Something went wrong on our side. Try again in a moment.'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type ErrorCode = keyof typeof ERRORS

export const ALL_CODES = Object.keys(ERRORS) as ErrorCode[]

/**
 * Who must act on a failure. A bug: a developer. An outage of our infrastructure: the operator. Upstream: a service
 * that we call and do not run, such as a payment gateway. An overload ends without action.
 */
export type FailureKind = 'bug' | 'outage' | 'upstream' | 'overload'

interface ErrorOptions {
  /** Replaces the catalogue's message. Shown to the caller, so never a secret. */
  message?: string
  /** Further members of the response body, beside `error`. */
  body?: Record<string, unknown>
  headers?: Record<string, string>
  /** The actual error. Logged, never sent. */
  cause?: unknown
  /** The kind of a 5xx, where the cause does not show it. */
  kind?: FailureKind
}

/** The only error a module throws on purpose. Anything else answers 503 `service_unavailable`. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Record<string, string>
  readonly kind: FailureKind | undefined

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    const [status, message] = ERRORS[code]
    super(options.message ?? message, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.body = options.body ?? {}
    this.headers = options.headers ?? {}
    this.kind = options.kind
  }
}

/** A fault of a body: its message and its place. */
export interface Fault {
  path: string
  message: string
}

/** The most faults that one answer names: as many as a person corrects at once. */
export const FAULTS_MAX = 20

/** Refuses a body with all of its faults. */
export const invalidBodyOf = (issues: readonly Fault[]) =>
  new ApiError('invalid_body', { body: { issues: issues.slice(0, FAULTS_MAX) } })

/** Refuses a member of a body that matches its shape but is not possible. */
export const invalidBody = (path: string, message: string) => invalidBodyOf([{ path, message }])

/** A rule of a body: whether it holds, and the fault to report where it does not. */
type Rule = readonly [holds: boolean, path: string, message: string]

/** Refuses a body with all rules that it breaks. */
export function requireRules(rules: readonly Rule[]): void {
  const broken = rules.filter(([holds]) => !holds)
  if (broken.length === 0) return
  throw invalidBodyOf(broken.map(([, path, message]) => ({ path, message })))
}

/** Returns the faults that an error names. Any other error is thrown again. */
function faultsOf(error: unknown): readonly Fault[] {
  if (error instanceof ApiError && error.code === 'invalid_body') {
    return error.body.issues as readonly Fault[]
  }
  throw error
}

/** Reads each item of a list, and refuses the body with the faults of all items. */
export function readEach<T, R>(list: readonly T[], read: (item: T, at: number) => R): R[] {
  const results: R[] = []
  const faults: Fault[] = []
  for (const [at, item] of list.entries()) {
    try {
      results.push(read(item, at))
    } catch (error) {
      faults.push(...faultsOf(error))
      if (faults.length >= FAULTS_MAX) break
    }
  }
  if (faults.length > 0) throw invalidBodyOf(faults)
  return results
}

type Readers = Record<string, () => unknown>

/** Reads the parts of a body by their readers, and refuses the body with the faults of all parts. */
export function readParts<T extends Readers>(readers: T): { [K in keyof T]: ReturnType<T[K]> } {
  const parts = readEach(Object.entries(readers), ([name, read]) => [name, read()] as const)
  return Object.fromEntries(parts) as { [K in keyof T]: ReturnType<T[K]> }
}

/** Writes the error body of the contract as text. It is one function, so that equal errors are equal bytes. */
export function errorBody(error: ApiError, correlationId?: string): string {
  const { code, message, body } = error
  return JSON.stringify({
    error: correlationId === undefined ? { code, message } : { code, message, correlationId },
    ...body,
  })
}
