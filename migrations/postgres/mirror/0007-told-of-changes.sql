CREATE FUNCTION mirror.tell_of_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('carbon_mirror_changes', '');
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION mirror.tell_of_changes IS 'Those who follow changes listen to this channel; the numbers are what counts.';

CREATE TRIGGER tell_of_changes AFTER UPDATE ON mirror.version_counter
FOR EACH ROW WHEN (new.last > old.last) EXECUTE FUNCTION mirror.tell_of_changes();
