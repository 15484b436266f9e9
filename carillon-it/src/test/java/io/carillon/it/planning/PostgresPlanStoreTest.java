package io.carillon.it.planning;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresPlanStoreTest extends PlanStoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @AfterEach
    void removeFaults() {
        FIXTURE.database().execute("DROP TRIGGER IF EXISTS poison ON carillon.schedule");
    }

    @Override
    void refusePlansOf(String name) {
        FIXTURE.database().execute("""
                CREATE OR REPLACE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF OLD.name = '%s' THEN RAISE EXCEPTION 'poisoned' USING ERRCODE = '23505'; END IF;
                  RETURN NEW;
                END $$;
                CREATE OR REPLACE TRIGGER poison BEFORE UPDATE ON carillon.schedule FOR EACH ROW
                  EXECUTE FUNCTION poison()
                """.formatted(name));
    }
}
