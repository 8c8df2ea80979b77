import { forGood, owner, STORE, until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const marketing = {
  name: 'marketing',
  is: 'coupons; and readers: their consents, the newsletter, suppressions',
  uses: ['affiliates', 'campaigns', 'customers', 'sites', 'stores'],
  tables: {
    consent_texts: forGood('What readers agreed to: proves their consents.'),
    coupon_codes: owner('coupons'),
    coupon_redemptions: owner('orders', 'counts towards the limits of a coupon'),
    coupons: forGood(STORE),
    global_mail_suppressions: forGood('A hash; until the operator lifts it or its owner confirms.'),
    mail_suppressions: forGood('An address, until it is lifted or the person is erased.'),
    marketing_consents: forGood('Proves who may be written to, until the person is erased.'),
    newsletter_subscribers: until(
      '30 days after a request without a confirmation; else until the person is erased',
      'newsletter upkeep',
    ),
  },
  counted: {
    coupon_codes: 'Codes of coupons.',
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
} as const satisfies Face
