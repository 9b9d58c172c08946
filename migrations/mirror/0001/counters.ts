import type { Dialect } from '../../schema.js';

/** Triggers that keep `certificate_sums` up to date. SQLite runs them for each row, PostgreSQL once for each statement. */
export const COUNTERS: Readonly<Record<Dialect['engine'], string>> = {
  sqlite: `CREATE TRIGGER certificates_count_new AFTER INSERT ON certificates BEGIN
  INSERT INTO certificate_sums VALUES (new.organization_id, new.state, 1)
  ON CONFLICT DO UPDATE SET certificates = certificates + 1;
END;
CREATE TRIGGER certificates_count_state AFTER UPDATE OF state ON certificates WHEN new.state <> old.state BEGIN
  UPDATE certificate_sums SET certificates = certificates - 1
  WHERE organization_id = old.organization_id AND state = old.state;
  INSERT INTO certificate_sums VALUES (new.organization_id, new.state, 1)
  ON CONFLICT DO UPDATE SET certificates = certificates + 1;
END;
CREATE TRIGGER certificates_count_gone AFTER DELETE ON certificates BEGIN
  UPDATE certificate_sums SET certificates = certificates - 1
  WHERE organization_id = old.organization_id AND state = old.state;
END;
`,
  postgres: `CREATE FUNCTION mirror.count_certificates() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO mirror.certificate_sums AS s
    SELECT organization_id, state, count(*) FROM came GROUP BY organization_id, state
    ON CONFLICT (organization_id, state) DO UPDATE SET certificates = s.certificates + excluded.certificates;
  ELSIF TG_OP = 'DELETE' THEN
    UPDATE mirror.certificate_sums AS s SET certificates = s.certificates - g.certificates
    FROM (SELECT organization_id, state, count(*) AS certificates FROM gone GROUP BY organization_id, state) AS g
    WHERE s.organization_id = g.organization_id AND s.state = g.state;
  ELSE
    INSERT INTO mirror.certificate_sums AS s
    SELECT organization_id, state, sum(number)
    FROM (
      SELECT organization_id, state, 1 AS number FROM came
      UNION ALL
      SELECT organization_id, state, -1 FROM gone
    ) AS moved
    GROUP BY organization_id, state
    HAVING sum(number) <> 0
    ON CONFLICT (organization_id, state) DO UPDATE SET certificates = s.certificates + excluded.certificates;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER certificates_count_new AFTER INSERT ON mirror.certificates
REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION mirror.count_certificates();
CREATE TRIGGER certificates_count_state AFTER UPDATE ON mirror.certificates
REFERENCING OLD TABLE AS gone NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION mirror.count_certificates();
CREATE TRIGGER certificates_count_gone AFTER DELETE ON mirror.certificates
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mirror.count_certificates();
`,
};

/** The functions with which PostgreSQL writes and reads instants as SQLite stores them. */
export const AS_TEXT = `CREATE FUNCTION mirror.as_text(instant timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
SELECT (CASE WHEN instant < '0001-01-01T00:00:00Z'::timestamptz THEN '0000' ELSE to_char(instant AT TIME ZONE 'UTC', 'YYYY') END
  || to_char(instant AT TIME ZONE 'UTC', '-MM-DD"T"HH24:MI:SS.MS"Z"')) COLLATE "C"
$$;
COMMENT ON FUNCTION mirror.as_text IS 'Formats an instant as text in UTC, as SQLite stores it. The time zone of the connection does not matter.';
CREATE FUNCTION mirror.as_instant(instant text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
SELECT (CASE WHEN instant COLLATE "C" < '0001' THEN '0001' || substr(instant, 5) || ' BC' ELSE instant END)::timestamptz(3)
$$;
COMMENT ON FUNCTION mirror.as_instant IS 'Parses the text that mirror.as_text returns.';
`;
