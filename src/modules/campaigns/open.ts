import type { House, WorkingHouse } from '../house.ts'
import type { MailDeps } from './deps.ts'
import type { SendingDeps } from './send-waves.ts'

/** Opens the deps to write mails of campaigns and reminders: for the routes, and for the loops that send them. */
export function openCampaigns(
  house: Pick<House, 'key' | 'publicUrl' | 'scanner' | 'storefrontUrl' | 'ports'>,
): MailDeps {
  const { linkToLeave, ...ports } = house.ports.campaigns
  const links = { unsubscribeKey: house.key('unsubscribe link'), publicUrl: house.publicUrl }
  return {
    ...ports,
    scanner: house.scanner,
    unsubscribeOf: (db, email) => linkToLeave(links, db, email),
    storefrontUrl: house.storefrontUrl,
  }
}

/** Opens the deps to send mails of campaigns. */
export const openCampaignSending = (
  house: House,
  transport: NonNullable<WorkingHouse['bulk']>,
): SendingDeps => ({
  ...openCampaigns(house),
  recordBounce: house.ports.campaigns.recordBounce,
  transport,
  dkim: house.config.dkim,
  from: house.config.MAIL_FROM,
  limits: house.limits,
  perMinute: house.config.CAMPAIGN_MAILS_PER_MINUTE,
})
