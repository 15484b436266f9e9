package io.carillon.testkit;

import io.carillon.internal.jdbc.Row;
import io.carillon.run.RunId;
import io.carillon.testkit.internal.server.Sql;
import java.sql.SQLException;
import java.util.List;

/**
 * Records what happens to the runs of a test database: which node leased each run and when, according to the
 * tables. Triggers in the database record the events in the transaction that writes them. The triggers exist as
 * long as the database.
 */
public final class HistoryRecorder {
    // The triggers run after the statement has written its tables, so they can read the final state of a run.
    private static final String INSTALL = """
            CREATE TABLE IF NOT EXISTS public.run_event (run uuid, attempt int, node uuid, kind text, detail text,
              at timestamptz DEFAULT clock_timestamp());
            TRUNCATE public.run_event;
            CREATE OR REPLACE FUNCTION public.note_run_event() RETURNS trigger LANGUAGE plpgsql AS $$
            DECLARE
              again timestamptz;
            BEGIN
              IF TG_OP = 'INSERT' THEN
                INSERT INTO public.run_event VALUES
                  (NEW.id, 0, NULL, 'CREATED', coalesce(NEW.project || '/' || NEW.target_name || '/' || NEW.key, ''));
              ELSIF TG_OP = 'DELETE' THEN
                INSERT INTO public.run_event VALUES
                  (OLD.id, OLD.attempt, OLD.owner, 'ENDED',
                    coalesce((SELECT state FROM carillon.run_history WHERE id = OLD.id LIMIT 1), ''));
              ELSIF NEW.owner IS NOT NULL AND NEW.attempt <> OLD.attempt THEN
                INSERT INTO public.run_event VALUES (NEW.id, NEW.attempt, NEW.owner, 'LEASED', '');
              ELSIF NEW.owner IS NULL AND OLD.owner IS NOT NULL THEN
                again := least(NEW.ready_at, NEW.gate_arrival_at);
                INSERT INTO public.run_event VALUES
                  (OLD.id, OLD.attempt, OLD.owner, 'RELEASED',
                   CASE WHEN NEW.failures > OLD.failures AND isfinite(again)
                        THEN 'failed ' || to_char(again AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                        WHEN NEW.failures > OLD.failures THEN 'failed'
                        WHEN NEW.node_deaths > OLD.node_deaths THEN 'crashed' ELSE '' END);
              END IF;
              RETURN NULL;
            END $$;
            CREATE OR REPLACE TRIGGER note_run_event AFTER INSERT OR UPDATE OR DELETE ON carillon.run
              FOR EACH ROW EXECUTE FUNCTION public.note_run_event();
            """;

    private static final String EVENTS = """
            SELECT e.run, e.attempt, coalesce(n.name, e.node::text, '') AS node, e.kind, e.at, e.detail
              FROM public.run_event e LEFT JOIN carillon.node n ON n.id = e.node
            """;

    private final Sql sql;

    private HistoryRecorder(Sql sql) {
        this.sql = sql;
    }

    /** Starts recording, and deletes earlier records of this database. */
    public static HistoryRecorder on(TestDatabase database) {
        database.execute(INSTALL);
        return new HistoryRecorder(new Sql(database.dataSource()));
    }

    /** Returns all events so far. Nodes are given by their display names. */
    public List<HistoryEvent> events() {
        return sql.call(session -> session.query(EVENTS).list(HistoryRecorder::event));
    }

    private static HistoryEvent event(Row row) throws SQLException {
        return new HistoryEvent(
                new RunId(row.uuid("run")).toString(),
                row.integer("attempt"),
                row.text("node"),
                HistoryEvent.Kind.valueOf(row.text("kind")),
                row.instant("at"),
                row.text("detail"));
    }
}
