import { openCampaigns } from '../campaigns/open.ts'
import type { House, WorkingHouse } from '../house.ts'

/** Opens the deps to send reminders of unfinished checkouts, for the loop and the test clock. */
export const openReminders = (house: House, transport: NonNullable<WorkingHouse['transport']>) => ({
  ...openCampaigns(house),
  database: house.workerDatabase,
  transport,
})
