import type { Database } from '../../../src/db/database.ts'
import { countNumbered } from '../../../src/modules/analytics/jobs.ts'
import type { Step } from './plan.ts'

/** What shoppers did: the views of each product, for as many days as a report shows. */
export const ANALYTICS_STEPS: readonly Step[] = [
  [
    'funnel',
    `
    insert into funnel_days (tenant_ref, day, type, product_id, shard, count)
    select p.tenant_ref, current_date - n, 'view', p.id, n % 8, 1 + n
      from products p cross join generate_series(0, 9) n
     where p.status = 'active';
    insert into funnel_days (tenant_ref, day, type, product_id, shard, count)
    select s.tenant_ref, current_date - n, t.type, p.id::uuid, 0, 5
      from stores s cross join generate_series(0, 29) n
     cross join (values ('search'), ('add_to_cart'), ('begin_checkout')) as t (type)
     cross join (values ('00000000-0000-0000-0000-000000000000'),
                        ('ffffffff-ffff-ffff-ffff-ffffffffffff')) as p (id);
    insert into funnel_days (tenant_ref, day, type, product_id, shard, count)
    select tenant_ref, day, type, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0, sum(count)
      from funnel_days where type = 'view' group by 1, 2, 3`,
  ],
]

/** Counts all numbered journals by the platform's own loop, so that the figures are the real ones. */
export async function countJournals(worker: Database): Promise<void> {
  while ((await countNumbered(worker)) > 0);
}
