import { Type } from 'typebox'
import { Id } from '../../kernel/schema.ts'
import { defineEvent } from './define-event.ts'

export const endpointPaused = defineEvent('platform.webhook.paused.v1', {
  when: 'An endpoint has failed ten times in a row, and gets nothing until its URL is registered again.',
  data: Type.Object({
    subscription_id: Type.String({ ...Id, description: 'The id of the endpoint.' }),
    url: Type.String({ description: 'The URL of the endpoint.' }),
    consecutive_failures: Type.Integer({ description: 'How many attempts in a row have failed.' }),
  }),
})

export const events = [endpointPaused]
