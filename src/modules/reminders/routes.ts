import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf } from '../../kernel/query.ts'
import { PageOf, ref } from '../../kernel/schema.ts'
import { REMINDER_STATES, Reminder, ReminderSettings, ReminderSettingsChange } from './schema.ts'
import * as reminders from './service.ts'

const tags = ['merchant-ops']
const scope = 'manage:own_marketing' as const
const path = '/v1/merchant/marketing/reminders'
const OneSettings = Type.Object({ settings: ReminderSettings })

export const merchantRoutes: Routes = async (app) => {
  app.get(
    `${path}/settings`,
    {
      config: { scope },
      schema: {
        operationId: 'readReminderSettings',
        tags,
        summary: 'Read whether shoppers are reminded of checkouts that they did not finish.',
        response: { 200: OneSettings },
      },
    },
    async ({ db }) => ({ settings: await reminders.readSettings(db) }),
  )

  app.put(
    `${path}/settings`,
    {
      config: { scope },
      schema: {
        operationId: 'setReminderSettings',
        tags,
        summary:
          'Switch reminders of unfinished checkouts on or off. Switch them on only if the law of your shoppers allows them. Switching them off deletes all stored carts.',
        body: ReminderSettingsChange,
        response: { 200: OneSettings },
      },
    },
    async ({ db, actor, body }) => ({ settings: await reminders.changeSettings(db, actor, body) }),
  )

  app.get(
    path,
    {
      config: { scope, query: { state: Type.Enum([...REMINDER_STATES]), ...PAGE_QUERY } },
      schema: {
        operationId: 'listCheckoutReminders',
        tags,
        summary: 'List unfinished checkouts that are or were reminded of, newest first.',
        response: { 200: PageOf('reminders', ref(Reminder)) },
      },
    },
    ({ db, query }) =>
      reminders.list(db, readOneOf(query, 'state', REMINDER_STATES), readPage(query)),
  )
}
