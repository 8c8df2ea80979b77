/**
 * Records, outside of the product's tables, which order each event was about: an erasure removes that
 * from the event.
 */
export async function openWitness(superuser: {
  query(text: string): Promise<unknown>
}): Promise<void> {
  await superuser.query(`
    create schema witness;
    create table witness.events as select tenant_ref, id, type, order_id from webhook_events;
    create function witness.note() returns trigger language plpgsql security definer as $$
      begin
        insert into witness.events values (new.tenant_ref, new.id, new.type, new.order_id);
        return null;
      end $$;
    create trigger witness_note after insert on webhook_events
      for each row execute function witness.note();`)
}
