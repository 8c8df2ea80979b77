import { bySlice, forGood, STORE } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'
import { gatewayEventsSlice } from './retention-queries.ts'

export const providerEvents = {
  name: 'provider-events',
  is: 'the events that providers send to us',
  uses: ['payments', 'stores'],
  tables: {
    gateway_accounts: forGood(STORE),
    gateway_events: bySlice(
      'RETENTION_GATEWAY_EVENT_DAYS',
      'older than the period and handled; their bodies go after 30 days (loop `gateway upkeep`)',
      gatewayEventsSlice,
    ),
  },
  errors: ERRORS,
} as const satisfies Face
