import type { Resources } from '../../harness/resources.ts'

export const resources: Resources = {
  rows: {
    test_clock_runs: `insert into test_clock_runs (tenant_ref, move, place, at, kind, outcome)
                    values ($1, 1, 1, now(), 'none', 'none')`,
    test_clocks: `insert into test_clocks (tenant_ref) values ($1)`,
  },
}
