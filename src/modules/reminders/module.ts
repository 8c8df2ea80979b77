import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts'
import { owner, until } from '../../platform/retention.ts'
import { type Face, type LoopFace, loop } from '../face.ts'

export const reminders = {
  name: 'reminders',
  is: 'mails about carts that were not bought',
  uses: ['campaigns', 'catalog', 'inventory', 'marketing'],
  tables: {
    checkout_reminder_settings: owner('stores', 'one row for each'),
    checkout_reminders: until(
      '30 days after the cart was last seen, or at once when the store switches reminders off',
      'reminder upkeep',
    ),
  },
  customerData: () => import('./customer-data.ts'),
  routes: async () => ({ merchant: [(await import('./routes.ts')).merchantRoutes] }),
  loops: async (house) => {
    const [{ createReminderWorker, deleteOldCarts }, { openReminders }] = await Promise.all([
      import('./jobs.ts'),
      import('./open.ts'),
    ])
    const { workerDatabase: database, transport } = house
    const upkeep = loop('reminder upkeep', HOUR_MS, () => deleteOldCarts(database))
    if (transport === null) return [upkeep]
    const sending: LoopFace = {
      name: 'checkout reminders',
      everyMs: 10 * SECOND_MS,
      open: (onFree) => createReminderWorker({ ...openReminders(house, transport), onFree }),
    }
    return [upkeep, sending]
  },
  due: async (house) => {
    if (house.transport === null) return []
    const [{ dueReminders }, { openReminders }] = await Promise.all([
      import('./jobs.ts'),
      import('./open.ts'),
    ])
    return [{ rank: 'reminders', work: [dueReminders(openReminders(house, house.transport))] }]
  },
} as const satisfies Face
