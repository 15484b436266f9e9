package io.carillon.it.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresLaneStoreTest extends LaneStoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void an_open_breaker_is_explained_with_the_time_of_its_probe_if_there_is_one() {
        RunId waits = enqueue(RunSpec.mail());
        node();
        String open = "the breaker of queue 'mail' is open because most attempts failed; one run is tried ";

        FIXTURE.database()
                .execute("INSERT INTO carillon.lane (queue, project, breaker) VALUES ('mail', '%s', 'open')"
                        .formatted(PROJECT));
        assertThat(explained(waits)).containsExactly(open + "next");

        FIXTURE.database().execute("UPDATE carillon.lane SET breaker_until = carillon.clock()");
        assertThat(explained(waits)).containsExactly(open + "at " + StoreFixture.NOON);
    }
}
