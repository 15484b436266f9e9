package io.carillon.server.api;

import io.carillon.server.http.Problem;
import io.carillon.server.store.HouseRepository;
import java.sql.SQLException;

/** How many schedules and living runs a project may have. Judged in the transaction that adds to them; two at once may pass the limit by one. */
final class Quotas {
    private final HouseRepository projects;
    private final HouseRepository.Quota defaults;

    Quotas(HouseRepository projects, HouseRepository.Quota defaults) {
        this.projects = projects;
        this.defaults = defaults;
    }

    private HouseRepository.Quota of(Deeds.Desk desk) throws SQLException {
        return projects.quota(desk.connection(), desk.project().name()).orElse(defaults);
    }

    /** Refuses if there are too many schedules, the one just made included. */
    void schedules(Deeds.Desk desk) throws SQLException {
        Integer own = of(desk).schedules();
        Integer most = own == null ? defaults.schedules() : own;
        if (most != null && projects.schedules(desk.connection(), desk.project().name(), most + 1L) > most)
            throw exceeded("%d schedules".formatted(most));
    }

    /** Refuses if so many more runs would be too many. */
    void waiting(Deeds.Desk desk, int more) throws SQLException {
        Long own = of(desk).waiting();
        Long most = own == null ? defaults.waiting() : own;
        if (most != null && projects.living(desk.connection(), desk.project().name(), most + 1) + more > most)
            throw exceeded("%d runs that wait or run".formatted(most));
    }

    private static Problem exceeded(String what) {
        return Problem.of(
                        429,
                        "quota-exceeded",
                        "The project may have %s. Remove some, wait until some have ended, or ask for more."
                                .formatted(what))
                .header("Retry-After", "60");
    }
}
