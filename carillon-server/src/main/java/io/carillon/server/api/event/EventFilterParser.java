package io.carillon.server.api.event;

import io.carillon.CarillonException;
import io.carillon.event.EventFilter;
import io.carillon.server.access.Cursors;
import io.carillon.server.http.ApiRequest;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * The filter of a list or tail of events.
 *
 * @param filter selects the events
 */
record EventFilterParser(ApiRequest request, EventFilter filter) {
    static EventFilterParser of(ApiRequest request) {
        String topic = request.query("topic")
                .orElseThrow(() -> ApiRequest.invalidParameter(
                        "topic", "This parameter is required. GET /v1/topics lists the topics."));
        EventFilter filter =
                checked("topic", EventFilter.topic("any"), topic, (before, name) -> EventFilter.topic(name));
        filter = with(request, "type", filter, EventFilter::type);
        return new EventFilterParser(request, with(request, "key", filter, EventFilter::key));
    }

    private static EventFilter with(
            ApiRequest request, String name, EventFilter before, BiFunction<EventFilter, String, EventFilter> setter) {
        Optional<String> value = request.query(name);
        return value.isEmpty() ? before : checked(name, before, value.get(), setter);
    }

    private static EventFilter checked(
            String name, EventFilter before, String value, BiFunction<EventFilter, String, EventFilter> setter) {
        try {
            return setter.apply(before, value);
        } catch (CarillonException wrong) {
            throw ApiRequest.invalidParameter(name, String.valueOf(wrong.getMessage()));
        }
    }

    /** Returns the decrypted position in the parameter {@code after}. */
    Optional<String> after(Cursors cursors) {
        Optional<String> after = request.query("after");
        if (after.isPresent()
                && request.route().queryParameters().contains("from")
                && request.query("from").isPresent())
            throw ApiRequest.invalidParameter("from", "Send either after or from, not both.");
        return after.map(text -> cursors.openEventPosition(request, text));
    }

    /** Rejects positions, which the list of the newest events does not have. */
    void refusePosition() {
        for (String name : new String[] {"after", "from"})
            if (request.query(name).isPresent())
                throw ApiRequest.invalidParameter(
                        name, "The list of the newest events has no position. Leave this parameter or order out.");
    }
}
