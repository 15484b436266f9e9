package com.example.shop;

import io.carillon.Carillon;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

@Configuration(proxyBeanMethods = false)
class CarillonConfiguration {
    record Reminder(UUID order, String to) {}

    record Invoice(UUID order) {}

    record Report(String region) {}

    static final HandlerType<Reminder> REMIND = HandlerType.of("reminder.send", Reminder.class);
    static final HandlerType<Invoice> INVOICE = HandlerType.of("invoice", Invoice.class);
    static final HandlerType<Report> REPORT = HandlerType.of("report", Report.class);

    @Bean(destroyMethod = "close")
    @DependsOnDatabaseInitialization
    Carillon carillon(DataSource dataSource, MeterRegistry registry, Mail mail) {
        CarillonMeters meters = new CarillonMeters(registry);
        Carillon carillon = Carillon.on(dataSource)
                .handle(REMIND, (reminder, run) -> mail.send(reminder.to()))
                .handle(REPORT, (report, run) -> mail.send(report.region()))
                .handleInTransaction(INVOICE, (invoice, run, connection) -> {
                    JdbcTemplate jdbc = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
                    jdbc.update("INSERT INTO invoice (order_id) VALUES (?)", invoice.order());
                })
                .schedule("nightly-report", When.cron("0 2 * * *", "Europe/Paris"), REPORT, new Report("eu"))
                .listener(meters)
                .shutdownTimeout(Duration.ofSeconds(20))
                .start();
        meters.watch(carillon);
        return carillon;
    }
}
