import type pg from 'pg'

/**
 * Keeps, outside of the product's tables, which order each event was about: an erasure takes that
 * from the event.
 */
export async function openWitness(superuser: pg.Pool): Promise<void> {
  await superuser.query(`
    create schema walk;
    create table walk.events (tenant_ref text, id uuid, type text, order_id uuid);
    create function walk.note() returns trigger language plpgsql security definer as $$
      begin
        insert into walk.events values (new.tenant_ref, new.id, new.type, new.order_id);
        return null;
      end $$;
    create trigger walk_note after insert on webhook_events
      for each row execute function walk.note();`)
}
