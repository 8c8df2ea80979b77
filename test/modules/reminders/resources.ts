import type { Resources } from '../../harness/resources.ts'

export const resources: Resources = {
  rows: {
    checkout_reminder_settings: `insert into checkout_reminder_settings (tenant_ref) values ($1)`,
    checkout_reminders: `insert into checkout_reminders (tenant_ref, email, email_folded, items,
                              next_attempt_at)
                       values ($1, 'x@x.example', 'x@x.example', '[]', now())`,
  },
}
