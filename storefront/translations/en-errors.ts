const ENTER_CARD = 'Please enter a card to pay with.'
const TRY_ANOTHER_CARD = 'Nothing was charged. Please try another card.'
const TOO_MANY_ATTEMPTS = 'There were too many attempts. Please wait a minute, then try again.'

/**
 * What shoppers are told when a form or a payment is refused: what is wrong, and what to do next.
 */
export const enErrors = {
  fieldRequired: 'Please fill in this field.',
  checkEmail: 'Please enter a valid email address.',
  checkPostcode: (example: string) => `Please check it: it should look like ${example}.`,
  confirmToContinue: 'Please confirm this to continue.',
  checkMarkedFields: 'Please check the marked fields.',
  enterCard: ENTER_CARD,
  checkCard: 'Please check your card details.',
  cardFieldsFailed:
    'The payment provider’s card fields could not be loaded. Please reload the page.',
  cardNeedsScript:
    'Please turn on JavaScript to pay by card: its fields come from the payment provider.',
  cardNotHere:
    'The new total is higher than what you paid, and the difference cannot be paid here. Please place another order for it.',
  checkCardNumber: 'Please check the card number.',
  checkExpiry: 'Please check the expiry date: month and year, such as 10/40.',
  cardExpired: 'This card has expired. Please use another one.',
  checkSecurityCode: 'Please enter the three or four digits of the security code.',
  couponChanged: 'We have checked your discount code. Please review the total, then pay.',
  alreadySubmitted:
    'This cart was already submitted, perhaps in another tab. Please check your orders before you pay again.',
  previousAttemptRefused:
    'Your previous attempt did not go through, and nothing was charged. Please try again.',
  quoteExpired: 'This page was open for a while. Please review the total, then pay.',
  cartChanged: 'Your cart has changed. Please review your order, then pay.',
  totalOfAddress: 'Your total now has the tax for your address. Please review it, then pay.',
  declines: {
    card_declined: `Your card was declined. ${TRY_ANOTHER_CARD}`,
    insufficient_funds: `Your card does not have enough funds. ${TRY_ANOTHER_CARD}`,
    card_not_supported: `This type of card is not accepted. ${TRY_ANOTHER_CARD}`,
    expired_card: `Your card has expired. ${TRY_ANOTHER_CARD}`,
    incorrect_cvv:
      'The security code does not match the card. Nothing was charged. Please check the code or try another card.',
    processing_error:
      'Your bank could not process the payment. Nothing was charged. Please try again or use another card.',
  },
  declined: `Your payment was declined. ${TRY_ANOTHER_CARD}`,
  refusals: {
    gift_card_spent:
      'Something of the gift card has been spent, so it cannot be refunded. Please contact the store.',
    gift_card_issued: 'Gift cards of an order cannot be changed. Please contact the store.',
    feature_not_enabled:
      'The store does not sell gift cards at the moment. Please remove them from your cart.',
    return_window_closed: 'The time to send these back is over.',
    final_sale: 'These products cannot be sent back.',
    quantity_exceeds_returnable: 'Fewer can be sent back than you chose.',
    card_required: ENTER_CARD,
    fraud_rejected: 'We could not accept this order. Please contact the store.',
    unreadable_policy: 'The store cannot take orders at the moment. Please contact the store.',
    country_not_served: 'We do not ship to this country. Please choose another one.',
    attestation_required: 'Please confirm the statement of the store, then pay.',
    insufficient_stock: 'There is not enough in stock. Please choose a smaller quantity.',
    variant_not_found: 'An item in your cart is no longer available. Please remove it.',
    price_changed: 'A price has changed. Please review the new total, then pay.',
    velocity_exceeded: TOO_MANY_ATTEMPTS,
    rate_limited: TOO_MANY_ATTEMPTS,
    currency_mismatch:
      'Your items are priced in different currencies. Please order them separately.',
    gift_card_invalid:
      'This gift card cannot be used. Nothing was charged. Please remove the code or try another one.',
    subscription_card_required:
      'A subscription needs a card. Pay a part by card, or order once without a subscription.',
    feature_disabled:
      'The store no longer offers this option. Nothing was charged. Please review your order, then pay.',
    invalid_transition: 'This is no longer possible for this order.',
    payment_request_closed: 'This order is not to be paid any more.',
    order_busy: 'Another change to this order is in progress. Please try again in a moment.',
    idempotency_in_progress: 'Your order is being processed. Please wait a moment.',
    disputed: 'The payment of this order is disputed. Please wait until your bank has decided.',
    not_refundable: 'There is nothing left to refund.',
    amount_exceeds_refundable:
      'The amount is more than what is left to refund. Please enter a smaller amount.',
    charge_not_found: 'This payment is not part of the order. Please choose another one.',
    refund_failed: 'The bank did not accept the refund. Please try again later.',
    payment_unconfirmed:
      'Your bank has not confirmed this yet. Please do not send it again; reload this page later to see the result.',
  },
  failed: 'Something went wrong on our side. Nothing was charged. Please try again.',

  coupons: {
    unknown: 'This code is not valid. Please check the spelling.',
    expired: 'This code has expired.',
    not_started: 'This code is not valid yet.',
    exhausted: 'This code has been used too often and is no longer valid.',
    per_customer: 'You have already used this code.',
    min_subtotal: 'Your cart does not reach the minimum amount for this code.',
    not_applicable: 'This code does not apply to the items in your cart.',
  },
  couponRefused: 'This code cannot be used.',

  refundedBefore: (amount: string) =>
    `This form has already refunded ${amount}, and nothing more was refunded now. To get another refund, please send it again.`,
  editedBefore:
    'This form was already sent. Please check your order below; to change it further, send the form again.',
  refusedBefore:
    'This form was already sent and refused, and nothing was changed. Please send it again.',
  checkAmount: 'Please check the amount.',
}

export type ErrorTexts = typeof enErrors
