package io.carillon.internal.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.event.EventId;
import io.carillon.internal.value.Uuid7;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The payload of a tick that publishes an event of a topic with versions. */
class TickEventTest {
    private static TickEvent parse(String payload) {
        return TickEvent.parse(payload.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    }

    private static EventId id() {
        return new EventId(Uuid7.next());
    }

    @Test
    void an_event_is_stored_as_it_was_declared() {
        var stored = parse("{'schedule':'s','topic':'t','type':'y','codec':'json','key':'k','data':'eyJhIjoiw6kifQ=='}")
                .toStore("p", id());

        assertThat(stored.topic() + stored.type() + stored.key()).isEqualTo("tyk");
        assertThat(new String(stored.data().bytes(), StandardCharsets.UTF_8)).isEqualTo("{\"a\":\"é\"}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'topic':'T','type':'y','codec':'json','key':'k','data':'MQ=='}",
                "{'type':'y','codec':'json','key':'k','data':'MQ=='}",
                "{'topic':'t','type':'*','codec':'json','key':'k','data':'MQ=='}",
                "{'topic':'t','type':'y','codec':'json','data':'MQ=='}",
                "{'topic':'t','type':'y','codec':'json','key':'','data':'MQ=='}",
                "{'topic':'t','type':'y','codec':'json','key':'k','data':'?'}",
                "{'topic':'t','type':'y','codec':'json','key':'k','data':'/w=='}"
            })
    void what_is_not_an_event_is_refused(String payload) {
        assertThatThrownBy(() -> parse(payload).toStore("p", id())).isInstanceOf(CarillonException.class);
    }
}
