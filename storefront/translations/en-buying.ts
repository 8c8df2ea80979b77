/** The texts of a choice between once and again and again, of reduced prices, and of what follows a purchase. */
export const enBuying = {
  lowestPrice: (price: string) => `Lowest price of the last 30 days: ${price}`,
  plan: 'How often',
  once: 'Once',
  repeated: (rhythm: string) => `Subscription, ${rhythm}`,
  save: (percent: string) => `save ${percent}`,
  delivery: (price: string, shipping: string | null, isTaxed: boolean) =>
    [
      `Each delivery: ${price}`,
      shipping === null ? 'with free shipping' : `plus ${shipping} shipping`,
    ]
      .join(' ')
      .concat(isTaxed ? ', and tax.' : '.'),
  nextDates: (dates: string) =>
    `The first delivery is this order; the next ones are charged on ${dates}.`,
  anyTime: 'Change, pause or cancel it at any time.',
  toOnce: 'Buy it once instead',
  toRepeated: (every: string) => `Send it ${every} instead`,
  agreed: (what: string) =>
    `You subscribe to ${what}. Your card is charged again for each delivery, until you cancel.`,
  confirmationTo: (email: string) => `Mails about this order go to ${email}.`,
  subscribedTo: (what: string) => `You have subscribed to ${what}.`,
  nextDelivery: (date: string) => `The next delivery is charged on ${date}.`,
  manage: 'Change, pause or cancel the subscription',
  giftCardsAside: 'Gift cards do not count towards it.',
  giftCardsPayNone: 'Gift cards cannot be paid for with a gift card or store credit.',
}

export type BuyingTexts = typeof enBuying
