import { Type } from 'typebox'
import { defineEvent } from '../webhooks/define-event.ts'
import { Campaign, PAUSED_BY_ITSELF } from './schema.ts'

const { id, name, channel, status, starts_at, ends_at } = Campaign.properties

export const campaignPaused = defineEvent('commerce.campaign.paused.v1', {
  when: 'A campaign has stopped by itself and waits for its merchant.',
  data: Type.Object({
    campaign: Type.Object({ id, name, channel, status, starts_at, ends_at }),
    reason: Type.Enum([...PAUSED_BY_ITSELF], {
      description:
        '`late`: its time had passed by more than an hour before it could start. `claims`: its text makes a prohibited health claim. `segment`: its segment no longer exists, or cannot be read.',
    }),
  }),
})

export const events = [campaignPaused]
