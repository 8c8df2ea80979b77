import { bySlice, forGood, owner, STORE } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'
import { campaignRecipientsSlice } from './retention-queries.ts'

export const campaigns = {
  name: 'campaigns',
  is: 'campaigns: the budget of their coupons, and their mails',
  uses: ['health-claims', 'sites', 'stores', 'webhooks'],
  tables: {
    campaign_mailings: owner('campaigns', 'one row for each'),
    campaign_recipients: bySlice(
      'RETENTION_SHOPPER_MAIL_DAYS',
      'older than the period, and their campaign is over',
      campaignRecipientsSlice,
    ),
    campaigns: forGood(STORE),
  },
  counted: {
    campaigns: 'Campaigns, ended ones included.',
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  events: () => import('./events.ts'),
} as const satisfies Face
