import { SECOND_MS } from '../../kernel/time.ts'
import { bySlice, forGood, owner, STORE } from '../../platform/retention.ts'
import { type Face, type LoopFace, loop } from '../face.ts'
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
  routes: async (house) => {
    const [{ merchantRoutes }, { openCampaigns }] = await Promise.all([
      import('./routes.ts'),
      import('./open.ts'),
    ])
    const { limits, key } = house
    const idempotencyKey = key('idempotency fingerprint')
    return { merchant: [merchantRoutes({ ...openCampaigns(house), limits, idempotencyKey })] }
  },
  loops: async (house) => {
    const { workerDatabase: database, bulk } = house
    const [{ moveDue, createMailingWorker }, { WAKE_CAMPAIGN_MAIL }, { openCampaignSending }] =
      await Promise.all([import('./jobs.ts'), import('./service.ts'), import('./open.ts')])
    const moving = loop('campaigns', SECOND_MS, (signal) => moveDue(database, signal))
    if (bulk === null) return [moving]
    const sending: LoopFace = {
      name: 'campaign mail',
      everyMs: SECOND_MS,
      wakeOn: [WAKE_CAMPAIGN_MAIL],
      open(onFree) {
        const deps = openCampaignSending(house, bulk)
        const { step, drain } = createMailingWorker({ ...deps, database, onFree })
        return { step, drain: () => drain().then(() => bulk.close()) }
      },
    }
    return [moving, sending]
  },
  due: async (house) => {
    const [{ dueCampaigns, dueMailings }, { openCampaignSending }] = await Promise.all([
      import('./jobs.ts'),
      import('./open.ts'),
    ])
    const { bulk } = house
    const mailings = bulk === null ? [] : [dueMailings(openCampaignSending(house, bulk))]
    return [
      { rank: 'campaigns', work: [dueCampaigns] },
      { rank: 'campaign mails', work: mailings },
    ]
  },
} as const satisfies Face
