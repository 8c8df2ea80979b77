import type pg from 'pg'

interface ForeignKey {
  name: string
  child: string
  parent: string
  columns: string[]
  parents: string[]
}

/**
 * Finds foreign keys that are broken, with the number of rows without a parent. For rows that were written
 * while PostgreSQL did not check them.
 */
export async function findOrphans(superuser: pg.Client): Promise<string[]> {
  const { rows: keys } = await superuser.query<ForeignKey>(`
    select c.conname as name, c.conrelid::regclass::text as child,
           c.confrelid::regclass::text as parent,
           (select array_agg(a.attname::text order by k.n)
              from unnest(c.conkey) with ordinality as k (attnum, n)
              join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.attnum) as columns,
           (select array_agg(a.attname::text order by k.n)
              from unnest(c.confkey) with ordinality as k (attnum, n)
              join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.attnum) as parents
      from pg_constraint c
     where c.contype = 'f' and c.connamespace = 'public'::regnamespace`)
  const broken: string[] = []
  for (const key of keys) {
    const { rows } = await superuser.query<{ orphans: string }>(countOrphans(key))
    const orphans = Number(rows[0]?.orphans)
    if (orphans > 0) broken.push(`${key.name}: ${orphans} rows`)
  }
  return broken
}

function countOrphans({ child, parent, columns, parents }: ForeignKey): string {
  const set = columns.map((name) => `c."${name}" is not null`).join(' and ')
  const same = columns.map((name, i) => `p."${parents[i]}" = c."${name}"`).join(' and ')
  return `select count(*) as orphans from ${child} c
           where ${set} and not exists (select from ${parent} p where ${same})`
}
