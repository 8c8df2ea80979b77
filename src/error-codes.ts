/** An error of the API: its status, and a message for people, which may be reworded. */
export type ErrorText = readonly [status: number, message: string]
export type ErrorTable = Readonly<Record<string, ErrorText>>

/**
 * The errors that several modules answer with, and those of `http/`, sorted by status. A code is public and never
 * changes its meaning or status. Codes of one module alone stand in its `errors.ts`.
 */
export const SHARED_ERRORS = {
  invalid_body: [400, 'The request body is not valid. Correct it as `issues` says.'],
  invalid_query: [400, 'The query string is not valid. Correct its parameters.'],
  validation_error: [
    400,
    'A parameter of the query string is not known or not valid. Correct it as `issues` says.',
  ],
  invalid_request: [400, 'The request is not valid HTTP. Correct it and send it again.'],
  idempotency_key_required: [
    400,
    'The Idempotency-Key header is missing. Send one, and the same one with every retry.',
  ],
  idempotency_key_invalid: [400, 'The Idempotency-Key must be 1 to 255 visible ASCII characters.'],
  unauthorized: [401, 'The credential is missing, invalid, expired or revoked. Send a valid one.'],
  invalid_signature: [401, 'The signature is missing, expired or wrong. Check the signing key.'],
  card_required: [402, 'The other tenders do not cover the total. Send a card for the rest.'],
  payment_declined: [
    402,
    'The payment was declined. `decline` says why and whether a retry helps.',
  ],
  forbidden: [403, 'The credential lacks the scope of this route. Use one that has it.'],
  operator_restricted: [403, 'The operator has denied this add-on to the store. Ask the operator.'],
  feature_not_enabled: [403, 'The store does not have this add-on. Enable it first.'],
  csrf_required: [403, 'A write by cookie needs the `x-fd-csrf` header. Send it with any value.'],
  email_not_verified: [
    403,
    'Your address is not verified. Open the link in the mail; `POST /v1/identity/verify/resend` sends another.',
  ],
  fraud_rejected: [403, 'The order was refused. A retry does not help; contact the store.'],
  route_not_found: [404, 'No such route. Check the path in the API reference at /docs.'],
  unknown_tenant: [404, 'No such store.'],
  request_not_found: [404, 'No such request. Check its id.'],
  order_not_found: [404, 'No such order. Check its id.'],
  fulfillment_not_found: [404, 'No such parcel. Check its id.'],
  return_not_found: [404, 'No such return. Check its id.'],
  mail_not_found: [404, 'No such mail. `GET /v1/merchant/mails` lists the mails.'],
  order_item_not_found: [404, 'The order has no such line. Check `order_item_id`.'],
  subscription_not_found: [404, 'No such subscription. Check its id.'],
  variant_not_found: [404, 'No such variant, or it is archived. Check its id.'],
  location_not_found: [404, 'No such location. Check its id.'],
  customer_not_found: [404, 'No such customer. Check `customer_ref`.'],
  asset_not_found: [404, 'No such asset. Check its hash, or upload it first.'],
  segment_not_found: [404, 'No such segment. Check its id.'],
  coupon_not_found: [404, 'No such coupon. Check its id.'],
  campaign_not_found: [404, 'No such campaign. Check its id.'],
  method_not_allowed: [405, 'The path does not support this method. See the `allow` header.'],
  request_timeout: [408, 'The request took too long to arrive. Send it again.'],
  tenant_exists: [409, 'A store with that `tenant_ref` already exists. Choose another.'],
  request_decided: [409, 'The request is no longer open. Read it to see how it ended.'],
  invalid_transition: [
    409,
    'The current status does not allow this. `allowed` lists what it allows.',
  ],
  insufficient_stock: [409, 'There is not enough stock. `items` says how much is available.'],
  limit_reached: [
    409,
    'The store has reached a limit: see `limit`. Delete some, or ask the operator.',
  ],
  media_limit_reached: [
    409,
    "The store's space for images is full. Delete some, or ask the operator.",
  ],
  credit_unspendable: [
    409,
    'The customer is erased, and credit of an erased customer can never be spent. Refund at most `refundable_cents`, which go to the card or the gift card that paid.',
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
  nothing_to_pay: [
    409,
    'No affiliate is due. `skipped` says why the named affiliates are not paid.',
  ],
  confirm_invalid: [
    409,
    '`confirm` is not valid, or has expired. Send the request without it for a new one.',
  ],
  idempotency_in_progress: [
    409,
    'A request with that Idempotency-Key is still running. Retry with the same key.',
  ],
  final_sale: [409, 'These products cannot be returned. Leave out the units in `items`.'],
  already_shipped: [
    409,
    'A part of the order has shipped, so it cannot be edited. Use a return for what has shipped, or cancel the rest.',
  ],
  order_on_hold: [409, 'The order is on hold. Release it first.'],
  charge_in_progress: [
    409,
    'The subscription is being charged now. Read it to see how that ended, then try again.',
  ],
  card_unusable: [
    409,
    'The stored card cannot be charged again. The customer must enter another card.',
  ],
  labels_bought: [
    409,
    'Shipping labels were bought for the old address: see `labels`. Void them first, or send `void_labels: true`.',
  ],
  order_busy: [409, 'Another change to this order is in progress. Try again in a moment.'],
  disputed: [
    409,
    'The card payment is disputed, and the bank may take the money itself. Wait until the dispute is over.',
  ],
  gift_card_spent: [
    409,
    'A gift card that the order bought is spent, in part or whole, and cannot be refunded. Refund the other units by `items`.',
  ],
  refund_failed: [409, 'The gateway did not refund the money. See `reason` and `refunded_cents`.'],
  price_changed: [409, 'The total differs from the quote. Show the shopper a new preview.'],
  body_too_large: [413, 'The request body is too large. Send a smaller one.'],
  uri_too_long: [414, 'The request URL is too long. Send a shorter one.'],
  unsupported_media_type: [415, 'The content type is not supported. Send plain application/json.'],
  expectation_failed: [417, 'The Expect header is not supported. Send the request without it.'],
  idempotency_key_reused: [422, 'That Idempotency-Key belongs to another request. Send a new key.'],
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
  currency_mismatch: [422, 'The items have different currencies. Order each currency separately.'],
  unreadable_policy: [
    422,
    'The shipping or the tax policy of the manifest cannot be read. Correct what `issues` names, or set the policy to null; until then nothing is sold without a policy.',
  ],
  country_not_served: [
    422,
    'The store does not ship to this country. Send one of `countries` in `shipping_address.country`, as its ISO 3166-1 code.',
  ],
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
  db_error: [
    503,
    'rate limiter unavailable. Send the request again after the seconds in `retry-after`.',
  ],
  auth_unavailable: [503, 'The credential could not be checked. Try again in a moment.'],
  scan_unavailable: [503, 'The claim scan could not run. Try again in a moment.'],
  service_unavailable: [503, 'Something went wrong on our side. Try again in a moment.'],
} as const satisfies ErrorTable

export type SharedCode = keyof typeof SHARED_ERRORS

export type CodesOf<T extends ErrorTable> = Readonly<Record<keyof T, true>>

/** The codes of one module alone. Each module adds those of its `errors.ts` (decision 0077). */
// biome-ignore lint/suspicious/noEmptyInterface: modules add to it by declaration merging, which a type has not
export interface OwnCodes {}

/** Every code that the API answers with. */
export type ErrorCode = SharedCode | keyof OwnCodes
