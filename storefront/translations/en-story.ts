/** What the page of an order says first: where the goods are, and what happens next. */
export const enStory = {
  preparing: 'We are preparing your order',
  preparingNext: 'We will mail you as soon as it ships.',
  packed: 'Your order is packed',
  packedNext: 'It leaves soon. We will mail you when it does.',
  partlyShipped: 'A part of your order is on its way',
  partlyShippedNext: 'The rest follows. We will mail you when it ships.',
  shipped: 'Your order is on its way',
  shippedNext: 'We will show here when it has arrived.',
  shippedWith: (carrier: string) => `${carrier} brings it to you.`,
  delivered: 'Your order has arrived',
  deliveredNext: 'We hope that you like it.',
  deliveredUntil: (date: string) => `Something is not right? You can send it back until ${date}.`,
  mailed: 'Sent by email',
  mailedLater: 'Will be sent by email',
  giftCard: (count: number): string =>
    count === 1
      ? 'Your gift card is on its way by email'
      : 'Your gift cards are on their way by email',
  giftCardTo: (recipients: string) => `It goes to ${recipients}.`,
  giftCardToYou: 'The code comes to your own email address.',
  giftCardOn: (count: number, date: string): string =>
    count === 1
      ? `Your gift card will be mailed on ${date}`
      : `Your gift cards will be mailed from ${date} on`,
  giftCardOnNext: 'You need not do anything until then.',
  refundedNext: (amount: string) =>
    `${amount} were refunded to the original payment method. That can take some days to show.`,
  nothingPaid: 'Nothing was charged.',
  refundedOf: (amount: string, total: string) => `${amount} of ${total} refunded`,
  refundedAll: (amount: string) => `${amount} refunded`,
  change: 'Change something',
}

export type StoryTexts = typeof enStory
