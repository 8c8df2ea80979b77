/**
 * Every error this API can answer with: the contract's error table, as code.
 *
 * Sorted by status. A code is public and never changes its meaning or status;
 * the message is for people and may be reworded.
 */
export const ERRORS = {
  invalid_body: [400, 'The request body is not valid.'],
  invalid_query: [400, 'The query string is not valid.'],
  invalid_request: [400, 'The request is not valid HTTP.'],
  idempotency_key_required: [400, 'Send an Idempotency-Key header.'],
  idempotency_key_invalid: [400, 'An Idempotency-Key is 1 to 255 visible ASCII characters.'],
  unknown_feature: [400, 'There is no such feature.'],
  unknown_scope: [400, 'There is no such scope.'],
  unknown_event: [400, 'That event cannot be subscribed to.'],
  unsafe_url: [400, 'The URL must be public HTTPS.'],
  unauthorized: [401, 'The credential is missing, invalid or revoked.'],
  invalid_signature: [401, 'The signature does not hold.'],
  card_required: [402, 'The other tenders do not cover the total: send a card.'],
  payment_declined: [402, 'The payment was declined.'],
  forbidden: [403, 'The credential lacks the scope this route needs.'],
  scope_escalation: [403, 'A key cannot grant scopes it does not hold.'],
  not_self_serve: [403, 'This feature is not self-serve.'],
  operator_restricted: [403, 'An operator has restricted this feature.'],
  feature_not_enabled: [403, 'This feature is not enabled for the store.'],
  csrf_required: [403, 'A cookie session needs the x-fd-csrf header to write.'],
  fraud_rejected: [403, 'The order was refused.'],
  attestation_required: [403, 'The statement of the store must be accepted first.'],
  route_not_found: [404, 'There is no such route.'],
  unknown_tenant: [404, 'No such store.'],
  unknown_provider: [404, 'No such provider or account.'],
  version_not_found: [404, 'The site has no such version.'],
  invalid_preview_token: [404, 'The preview token is not valid.'],
  credential_not_found: [404, 'No such credential.'],
  request_not_found: [404, 'No such entitlement request.'],
  domain_not_found: [404, 'No such domain.'],
  gift_card_not_found: [404, 'No such gift card.'],
  store_credit_not_found: [404, 'That customer has no store credit account.'],
  ban_not_found: [404, 'No such ban.'],
  order_not_found: [404, 'No such order.'],
  charge_not_found: [404, 'The order has no such charge.'],
  order_item_not_found: [404, 'The order has no such item.'],
  variant_not_found: [404, 'No such variant.'],
  location_not_found: [404, 'No such location.'],
  customer_not_found: [404, 'No such customer.'],
  webhook_not_found: [404, 'No such webhook subscription.'],
  delivery_not_found: [404, 'No such delivery.'],
  gateway_event_not_found: [404, 'No such event of a provider.'],
  product_not_found: [404, 'No such product.'],
  image_not_found: [404, 'The product has no such image.'],
  collection_not_found: [404, 'No such collection.'],
  asset_not_found: [404, 'No such asset.'],
  pricing_group_not_found: [404, 'No such pricing group.'],
  member_not_found: [404, 'The group has no such member.'],
  price_not_found: [404, 'The group has no price for that.'],
  coupon_not_found: [404, 'No such coupon.'],
  payment_not_found: [404, 'No such payment.'],
  export_not_found: [404, 'No such export.'],
  idempotency_key_not_found: [404, 'No such Idempotency-Key.'],
  method_not_allowed: [405, 'This route does not take that method.'],
  request_timeout: [408, 'The request took too long to arrive.'],
  tenant_exists: [409, 'A store with that tenant_ref already exists.'],
  currency_fixed: [409, 'The store has orders, gift cards or credit in its currency.'],
  no_active_version: [409, 'The store has no active site version to go live with.'],
  email_exists: [409, 'An account with that e-mail address already exists.'],
  initial_credential_exists: [409, 'The store already has an active initial key.'],
  already_enabled: [409, 'The feature is already enabled.'],
  self_serve_available: [409, 'This feature can be enabled without a request.'],
  gateway_account_taken: [409, 'The account belongs to another store.'],
  request_decided: [409, 'The request has already been decided.'],
  hostname_taken: [409, 'Another store has that hostname.'],
  domain_not_active: [409, 'The domain is not active.'],
  domain_limit_reached: [409, 'The store has as many domains as it may have.'],
  invalid_transition: [409, 'That is not possible in the current state.'],
  ban_exists: [409, 'That value is banned already.'],
  insufficient_stock: [409, 'There is not enough of this in stock.'],
  stale_level: [409, 'The stock has changed since it was looked at.'],
  location_exists: [409, 'A location with that id already exists.'],
  location_in_use: [409, 'The location holds or owes stock.'],
  webhook_limit_reached: [409, 'The store has as many webhook endpoints as it may have.'],
  rotation_in_progress: [409, 'The secret before the last rotation is still valid.'],
  not_redrivable: [409, 'This delivery cannot be sent again.'],
  slug_exists: [409, 'That slug is taken in this store.'],
  sku_exists: [409, 'That SKU is taken in this store.'],
  image_limit_reached: [409, 'The product has as many images as it may have.'],
  media_limit_reached: [409, 'The store has as many bytes of images as it may have.'],
  store_not_draft: [409, 'Only a draft store can be stocked with samples.'],
  asset_in_use: [409, 'The asset is in use.'],
  code_exists: [409, 'A coupon with that code already exists.'],
  confirm_invalid: [409, 'That value does not confirm this erasure, or no longer.'],
  erasure_too_broad: [409, 'Too many customers share the e-mail address.'],
  idempotency_in_progress: [409, 'A request with that Idempotency-Key is still running.'],
  order_busy: [409, 'Something else is being done to the order. Try again.'],
  not_refundable: [409, 'There is nothing to give back.'],
  payment_not_resolvable: [409, 'How this payment ended cannot be said by hand.'],
  refund_failed: [409, 'The gateway did not give the money back.'],
  price_changed: [409, 'The total is no longer the one that was quoted.'],
  body_too_large: [413, 'The request body is too large.'],
  asset_too_large: [413, 'An asset has at most 20 MB.'],
  uri_too_long: [414, 'The request URL is too long.'],
  unsupported_media_type: [415, 'Send the body as application/json, without content-encoding.'],
  range_not_satisfiable: [416, 'The range lies beyond the asset.'],
  expectation_failed: [417, 'The Expect header cannot be met.'],
  idempotency_key_reused: [422, 'That Idempotency-Key was used with another request.'],
  content_mismatch: [422, 'The bytes are not what the content type says.'],
  image_invalid: [422, 'The image cannot be used.'],
  hostname_invalid: [422, 'That is not a hostname a store can have.'],
  stock_below_zero: [422, 'No less than nothing can be in stock.'],
  ruo_claims_violation: [422, 'The manifest makes a prohibited claim.'],
  insufficient_balance: [422, 'The balance is too small.'],
  balance_limit_exceeded: [422, 'The balance would be larger than a balance may be.'],
  gift_card_invalid: [422, 'The gift card cannot be used.'],
  coupon_invalid: [422, 'The coupon cannot be used.'],
  tax_provider_unavailable: [422, 'The tax provider is not set up here.'],
  amount_exceeds_refundable: [422, 'That is more than can be given back.'],
  currency_mismatch: [422, 'The items are priced in different currencies.'],
  feature_disabled: [422, 'The store does not offer this at its checkout.'],
  rate_limited: [429, 'Too many attempts.'],
  velocity_exceeded: [429, 'Too many attempts. Try again later.'],
  headers_too_large: [431, 'The request headers are too large.'],
  payment_unconfirmed: [
    503,
    'The outcome of the payment is not known yet. Ask again with the same key.',
  ],
  db_error: [503, 'rate limiter unavailable'],
  resolve_unavailable: [503, 'The store could not be read.'],
  auth_unavailable: [503, 'The credential could not be checked.'],
  scan_unavailable: [503, 'The claim scan could not run.'],
  service_unavailable: [503, 'Something went wrong on our side. Try again.'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type ErrorCode = keyof typeof ERRORS

/**
 * Whose a failure is. A bug wants a developer, an outage of what we stand on the operator. Upstream is
 * somebody we ask and do not run, such as a payment gateway; an overload passes by itself.
 */
export type FailureKind = 'bug' | 'outage' | 'upstream' | 'overload'

interface ErrorOptions {
  /** Replaces the catalogue's message. Shown to the caller, so never a secret. */
  message?: string
  /** Extra members of the response body, beside `error`. */
  body?: Record<string, unknown>
  headers?: Record<string, string>
  /** What really happened. Logged, never sent. */
  cause?: unknown
  /** Of a 5xx: whose it is, where the cause does not show that. */
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

/** The error body of the contract, as text. One function, so that equal errors are equal bytes. */
export function errorBody(error: ApiError, correlationId?: string): string {
  const { code, message, body } = error
  return JSON.stringify({
    error: correlationId === undefined ? { code, message } : { code, message, correlationId },
    ...body,
  })
}
