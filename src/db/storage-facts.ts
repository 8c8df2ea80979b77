import type pg from 'pg'

/** The limits below which a table or an index is too small or too new to be judged. */
export interface StorageLimits {
  /** Rows below which a table's dead rows and unused indexes cost nothing worth a finding. */
  rowsMin: number
  /** How old the statistics must be before an index that nothing read counts as unused. */
  statisticsDays: number
}

/** Dead rows beside live ones from which a table counts as bloated: autovacuum is not keeping up. */
const DEAD_SHARE = 0.2

/** Months ahead that must have their partition: the worker makes two. */
const MONTHS_AHEAD = 1

/** Tables with many dead rows beside the live ones, each with its last autovacuum. */
export const listBloatedTables = (client: pg.Client, { rowsMin }: StorageLimits) =>
  list(
    client,
    `select format('%s: %s dead rows beside %s, last autovacuum %s', relname, n_dead_tup, n_live_tup,
                   coalesce(last_autovacuum::date::text, 'never')) as fact
       from pg_stat_user_tables
      where schemaname = 'public' and n_dead_tup + n_live_tup >= $1
        and n_dead_tup > n_live_tup * $2::float8
      order by n_dead_tup desc`,
    [rowsMin, DEAD_SHARE],
  )

/**
 * Indexes of big tables that no query has read since the statistics began, if the statistics are old enough. Keys are
 * left out: they enforce a rule even if no query reads them. The partitions of an index count together.
 */
export const listUnusedIndexes = (client: pg.Client, limits: StorageLimits) =>
  list(
    client,
    `select format('%s on %s (%s)', index, on_table, pg_size_pretty(bytes)) as fact
       from (select coalesce(pi.relname, i.relname) as index, coalesce(pt.relname, t.relname) as on_table,
                    sum(s.idx_scan) as scans, sum(u.n_live_tup) as rows,
                    sum(pg_relation_size(i.oid)) as bytes
               from pg_stat_user_indexes s
               join pg_stat_user_tables u on u.relid = s.relid
               join pg_class i on i.oid = s.indexrelid
               join pg_class t on t.oid = s.relid
               join pg_index x on x.indexrelid = i.oid and not x.indisunique
               left join pg_inherits ih on ih.inhrelid = i.oid
               left join pg_class pi on pi.oid = ih.inhparent
               left join pg_inherits th on th.inhrelid = t.oid
               left join pg_class pt on pt.oid = th.inhparent
              where s.schemaname = 'public'
              group by 1, 2) as indexes
      where scans = 0 and rows >= $1
        and (select coalesce(stats_reset, pg_postmaster_start_time())
               from pg_stat_database where datname = current_database())
            <= now() - make_interval(days => $2)
      order by bytes desc`,
    [limits.rowsMin, limits.statisticsDays],
  )

/** Partitioned tables that lack a partition for this month or the next. */
export const listMissingPartitions = (client: pg.Client) =>
  list(
    client,
    `select format('%s of %s', t.name, to_char(m, 'YYYY-MM')) as fact
       from partitioned_tables t,
            generate_series(date_trunc('month', now() at time zone 'UTC'),
                            date_trunc('month', now() at time zone 'UTC') + make_interval(months => $1),
                            interval '1 month') as m
      where not exists (select from partition_months p where p.parent = t.name and p.month = m::date)
      order by 1`,
    [MONTHS_AHEAD],
  )

async function list(client: pg.Client, text: string, values: number[]): Promise<string[]> {
  const { rows } = await client.query<{ fact: string }>(text, values)
  return rows.map(({ fact }) => fact)
}
