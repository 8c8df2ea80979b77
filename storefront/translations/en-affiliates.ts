/** The texts of the pages for affiliates. */
export const enAffiliates = {
  title: 'Become an affiliate',
  intro: (commission: string) =>
    `Recommend this store and earn ${commission} on each order that comes from you. Tell us about yourself, and we will answer by mail.`,
  name: 'Name',
  website: 'Website or profile (optional)',
  message: 'How would you recommend us? (optional)',
  apply: 'Apply',
  sent: 'Thank you. We will look at your application and answer by mail.',
  closed: 'The store takes no applications at the moment.',
  checkForm: 'Please enter your name and a valid email address.',
  ended: 'This link has expired or is incomplete. Please ask the store for a new one.',
  yours: 'Your affiliate page',
  earns: (commission: string) => `You earn ${commission} on each order that comes from you.`,
  suspended: 'New orders earn nothing at the moment. What you have earned stays yours.',
  pending: 'Pending',
  approved: 'To be paid next',
  inPayout: 'On its way to you',
  paid: 'Paid so far',
  codes: 'Codes and links',
  noCodes: 'You have no code yet. Please ask the store for one.',
  codeEnded: 'no longer counts',
  commissions: 'Commissions',
  noCommissions: 'No order has come from you yet.',
  types: { sale: 'Order', renewal: 'Renewal', clawback: 'Taken back' },
  statuses: {
    pending: 'pending',
    approved: 'approved',
    paid: 'paid',
    declined: 'declined',
    reversed: 'cancelled out',
  },
  payouts: 'Payouts',
  noPayouts: 'Nothing has been paid yet.',
  payoutStatuses: { pending: 'on its way', paid: 'paid', cancelled: 'cancelled' },
}

export type AffiliateTexts = typeof enAffiliates
