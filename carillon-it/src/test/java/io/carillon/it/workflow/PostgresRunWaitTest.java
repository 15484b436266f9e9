package io.carillon.it.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Enqueue.OnFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRunWaitTest extends RunWaitContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void a_run_that_cannot_be_changed_delays_no_other() {
        UUID node = node();
        enqueue(RunSpec.mail());
        Attempt first = claimOne(node);
        List<RunKey> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++)
            waiting.add(new RunKey(PROJECT, enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, first.run()))));
        apply(node, first, complete());
        FIXTURE.database().execute("""
                CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS
                  $$ BEGIN RAISE EXCEPTION 'rejected'; END $$;
                CREATE TRIGGER reject BEFORE UPDATE ON carillon.run FOR EACH ROW
                  WHEN (OLD.id = '%s') EXECUTE FUNCTION reject();
                """.formatted(waiting.get(1).run().value()));
        try {
            storage().runWaits().resolve(waiting);
        } finally {
            FIXTURE.database().execute("DROP TRIGGER reject ON carillon.run; DROP FUNCTION reject()");
        }

        assertThat(FIXTURE.query("SELECT run_id::text FROM carillon.run_wait").texts())
                .containsExactly(waiting.get(1).run().value().toString());
    }

    @Override
    void assertNoWaits() {
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run_wait").number())
                .isZero();
    }
}
